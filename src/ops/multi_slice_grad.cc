// multi_slice_grad and multi_slice_write: check every slice, bring them to common axes, fill tile by tile.
#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "backslice/multi_slice.h"
#include "core/device.h"
#include "core/errors.h"
#include "core/items.h"
#include "kernels/cuda/memory.h"
#include "kernels/tiles/device_tiles.h"
#include "kernels/tiles/kernel.h"
#include "ops/checks.h"
#include "ops/move.h"
#include "ops/slices.h"

namespace backslice {
namespace {

using unguarded::SliceNames;

// "slices[3].dy", for every slice: on the stack.
class SliceName {
 public:
  SliceName(const SliceNames::Part& part, std::size_t i) {
    char* end = copied(part.list, text_.data());
    *end++ = '[';
    end = std::to_chars(end, end + 20, i).ptr;
    *end++ = ']';
    *copied(part.field, end) = '\0';
  }
  const char* c_str() const { return text_.data(); }

 private:
  static char* copied(std::string_view text, char* to) { return std::copy(text.begin(), text.end(), to); }

  std::array<char, 48> text_;  // names are short
};

Status check_slices(const Shape& shape, std::span<const SliceGradient> slices, const TaskRunner& runner,
                    const SliceNames& names) {
  cuda::KnownPages known;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    runner.throw_if_cancelled_at(static_cast<std::int64_t>(i));
    const auto& [selection, dy] = slices[i];
    const SliceName argument(names.dy, i);
    if (selection.shape() != shape) {
      return invalid_argument(SliceName(names.selection, i).c_str(), " is for shape ", Ints(selection.shape()),
                              ", not for shape ", Ints(shape))
          .at(names.selection.list, static_cast<std::int64_t>(i));
    }
    if (dy.device != slices[0].dy.device) {
      return check_same_device(dy.device, argument.c_str(), slices[0].dy.device, SliceName(names.dy, 0).c_str());
    }
    BACKSLICE_RETURN_IF_ERROR(check_input(dy, argument.c_str(), known));
    BACKSLICE_RETURN_IF_ERROR(
        check_shape(dy.shape(), argument.c_str(), selection.result_shape(), "the shape of the slice"));
    const ConstView& first = slices[0].dy;
    if (dy.dtype != first.dtype || dy.layout.item_size != first.layout.item_size) {
      return dtype_error(argument.c_str(), " has dtype ", name(dy.dtype), ", but ", SliceName(names.dy, 0).c_str(),
                         " has ", name(first.dtype))
          .at(argument.c_str());
    }
  }
  return Status();
}

// Precondition: check_slices() found the slices right, and so alike.
Status check_outputs(const Shape& shape, std::span<const SliceGradient> slices, const View& out,
                     const TaskRunner& runner, const SliceNames& names) {
  if (slices.empty()) {  // an output like any other, with no input to compare it with
    const Layout nothing = contiguous_layout(*Shape::make({0}), out.layout.item_size);
    return check_output(out, shape, ConstView{nullptr, out.dtype, nothing, out.device}, names.slices);
  }
  BACKSLICE_RETURN_IF_ERROR(check_output(out, shape, slices[0].dy, SliceName(names.dy, 0).c_str()));
  for (std::size_t i = 1; i < slices.size(); ++i) {
    runner.throw_if_cancelled_at(static_cast<std::int64_t>(i));
    BACKSLICE_RETURN_IF_ERROR(check_apart(out, "out", slices[i].dy, SliceName(names.dy, i).c_str()));
  }
  return Status();
}

std::int64_t elements_of(std::span<const SliceGradient> slices) {
  std::int64_t sum = 0;
  for (const SliceGradient& slice : slices) sum += slice.dy.elements();
  return sum;
}

// Whether the result can be formed at all: sums need an addition, gaps need a zero.
Status check_result(const Shape& shape, DType dtype, std::span<const SliceGradient> slices, Overlap overlap,
                    const SliceNames& names) {
  if (overlap == Overlap::Added && !can_add(dtype)) {
    return dtype_error("slices overlap, and elements of dtype ", name(dtype), " cannot be added").at(names.slices);
  }
  if (has_zero(dtype)) return Status();
  const bool covers = overlap == Overlap::None ? elements_of(slices) == shape.elements()
                                               : std::any_of(slices.begin(), slices.end(), [](const SliceGradient& s) {
                                                   return s.selection.covers_input();
                                                 });
  if (covers) return Status();
  return dtype_error(name(dtype), " has no zero, and the slices do not cover every element").at(names.slices);
}

// Objects are moved one by one: cleared, then assigned.
void fill_objects(std::span<const SliceGradient> slices, const View& out, Write write, const Call& call) {
  if (write == Write::Overwrite) zero_all(out, call);
  for (const auto& [selection, dy] : slices) copy_into(select(selection, out), dy, call);
}

// The slices on common axes. Those do not depend on where the output is, only on how it lies.
struct ManySlices {
  CommonAxes common;
  Overlap overlap;
  bool adds() const { return overlap == Overlap::Added; }
};

// `overlap` is what becomes of elements that two slices have, if there are any.
Result<ManySlices> prepare(std::span<const SliceGradient> slices, const Layout& out, DType dtype, Overlap overlap,
                           const TaskRunner& runner, const SliceNames& names) {
  ManySlices many{common_axes(slices, out, runner), overlap};
  if (are_disjoint(many.common, runner)) many.overlap = Overlap::None;
  BACKSLICE_RETURN_IF_ERROR(check_result(out.shape, dtype, slices, many.overlap, names));
  return many;
}

void run_on_device(const ManySlices& many, const View& out, bool accumulates, const Call& call) {
  cuda::fill_tiles(many.common, out.dtype, out.layout.item_size, many.overlap, accumulates, out.data,
                   call.device_kernel());
}

void run(const ManySlices& many, std::span<const SliceGradient> slices, const View& out, Write write,
         const ExecutionPolicy& policy, const Call& call) {
  if (out.elements() == 0) return;
  if (!are_bytes(out.dtype)) return fill_objects(slices, out, write, call);
  if (!call.device.is_cpu()) return run_on_device(many, out, false, call);
  fill_tiles(many.common, out.dtype, out.layout.item_size, many.overlap, write, out.data, call.kernel(policy));
}

void add_each(std::span<const SliceGradient> slices, const View& out, const Call& call) {
  if (!call.device.is_cpu() && out.elements() > 0) {
    return run_on_device({common_axes(slices, out.layout, call.tasks), Overlap::Added}, out, true, call);
  }
  std::int64_t step = 0;
  for (const auto& [selection, dy] : slices) {
    call.tasks.throw_if_cancelled_at(step++);
    const Schedule schedule = schedule_gradient(selection, out.layout, dy.layout, Write::Accumulate, dy.dtype);
    run_add(schedule, dy.dtype, out.data, dy.data, call);
  }
}

// Everything that can be refused is, before anything is allocated or written.

Result<Tensor> make(Ints dims, std::span<const SliceGradient> slices, Overlap overlap, const Context& context) {
  return without_throwing([&]() -> Result<Tensor> {
    const SliceNames names;
    if (slices.empty()) return invalid_argument("slices is empty; at least one is needed, for the dtype").at("slices");
    const auto shape = Shape::make(dims);
    if (!shape.ok()) return shape.status();
    const Call call(context, slices[0].dy.device);
    BACKSLICE_RETURN_IF_ERROR(check_slices(*shape, slices, call.tasks, names));
    const DType dtype = slices[0].dy.dtype;
    const std::int64_t item_size = slices[0].dy.layout.item_size;
    if (const auto bytes = size_in_bytes(*shape, item_size); !bytes.ok()) return bytes.status();
    const Layout dx = contiguous_layout(*shape, item_size);
    const auto many = prepare(slices, dx, dtype, overlap, call.tasks, names);
    if (!many.ok()) return many.status();
    const ExecutionPolicy policy = policy_for_new_sum(slices, dx, call.free_zeros(), !many->adds(), dtype);
    const bool fresh = policy.strategy == Strategy::FreshZeros;
    auto out = call.allocate_for(policy, dtype, *shape, item_size);
    const Write write = fresh ? Write::IntoZeros : Write::Overwrite;
    if (out.ok()) run(*many, slices, out->view(), write, policy, call);
    return out;
  });
}

Status fill_into(Ints dims, std::span<const SliceGradient> slices, const View& out, Write write, Overlap overlap,
                 const Context& context, const SliceNames& names) {
  const auto shape = Shape::make(dims);
  if (!shape.ok()) return shape.status();
  BACKSLICE_RETURN_IF_ERROR(check_shape(out.shape(), "out", *shape, "the shape of the result"));
  const Call call(context, out.device);
  BACKSLICE_RETURN_IF_ERROR(check_slices(*shape, slices, call.tasks, names));
  BACKSLICE_RETURN_IF_ERROR(check_outputs(*shape, slices, out, call.tasks, names));
  if (write == Write::Accumulate) {
    BACKSLICE_RETURN_IF_ERROR(check_can_accumulate(out.dtype, "out"));
    call.writing([&] { add_each(slices, out, call); });
    return Status();
  }
  const auto many = prepare(slices, out.layout, out.dtype, overlap, call.tasks, names);
  if (!many.ok()) return many.status();
  const ExecutionPolicy policy = policy_for_sum(slices, out.layout, write, !many->adds(), out.dtype);
  call.writing([&] { run(*many, slices, out, write, policy, call); });
  return Status();
}

}  // namespace

Status unguarded::multi_slice_grad_into(Ints shape, std::span<const SliceGradient> slices, const View& out, Write write,
                                        const Context& context, const SliceNames& names) {
  return fill_into(shape, slices, out, write, Overlap::Added, context, names);
}

Status unguarded::multi_slice_write_into(Ints shape, std::span<const SliceGradient> slices, const View& out,
                                         const Context& context, const SliceNames& names) {
  return fill_into(shape, slices, out, Write::Overwrite, Overlap::LastWins, context, names);
}

Result<Tensor> multi_slice_grad(Ints shape, std::span<const SliceGradient> slices, const Context& context) {
  return make(shape, slices, Overlap::Added, context);
}

Status multi_slice_grad_into(Ints shape, std::span<const SliceGradient> slices, const View& out, Write write,
                             const Context& context) {
  return without_throwing([&] { return unguarded::multi_slice_grad_into(shape, slices, out, write, context, {}); });
}

Result<Tensor> multi_slice_write(Ints shape, std::span<const SliceGradient> slices, const Context& context) {
  return make(shape, slices, Overlap::LastWins, context);
}

Status multi_slice_write_into(Ints shape, std::span<const SliceGradient> slices, const View& out,
                              const Context& context) {
  return without_throwing([&] { return unguarded::multi_slice_write_into(shape, slices, out, context, {}); });
}

Result<std::int64_t> multi_slice_grad_scratch(std::int64_t slices, int rank) {
  return without_throwing([&]() -> Result<std::int64_t> {
    constexpr std::int64_t kMost = std::int64_t{1} << 32;  // which no list in memory reaches
    if (slices < 0 || slices > kMost) {
      return invalid_argument("slices is ", slices, ", expected 0 to ", kMost).at("slices");
    }
    if (rank < 0 || rank > kMaxRank) return invalid_argument("rank is ", rank, ", expected 0 to ", kMaxRank).at("rank");
    return cuda::most_table_bytes(slices, rank);
  });
}

}  // namespace backslice
