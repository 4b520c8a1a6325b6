// multi_slice_grad: check every slice, bring them to common axes, fill tile by tile.
#include "backslice/multi_slice.h"
#include "backslice/plan.h"
#include "core/errors.h"
#include "kernels/multi/tiles.h"
#include "kernels/slice/fill.h"
#include "kernels/slice/reference.h"
#include "ops/checks.h"

namespace backslice {
namespace {

std::string at(std::size_t i, const char* what) { return join("slices[", i, "].", what); }

Status check_slices(const Shape& shape, std::span<const SliceGradient> slices, const TaskRunner& runner) {
  for (std::size_t i = 0; i < slices.size(); ++i) {
    runner.throw_if_cancelled_at(static_cast<std::int64_t>(i));
    const auto& [selection, dy] = slices[i];
    const std::string argument = at(i, "dy");
    if (selection.shape() != shape) {
      return invalid_argument(at(i, "selection"), " is for shape ", Ints(selection.shape()), ", not for shape ",
                              Ints(shape));
    }
    BACKSLICE_RETURN_IF_ERROR(check_input(dy, argument.c_str()));
    BACKSLICE_RETURN_IF_ERROR(check_shape(dy, argument.c_str(), selection.result_shape(), "the shape of the slice"));
    const ConstView& first = slices[0].dy;
    if (dy.dtype != first.dtype || dy.layout.item_size != first.layout.item_size) {
      return dtype_error(argument, " has dtype ", name(dy.dtype), ", but slices[0].dy has ", name(first.dtype));
    }
  }
  return Status();
}

Status check_outputs(const Shape& shape, std::span<const SliceGradient> slices, const View& out,
                     const TaskRunner& runner) {
  if (slices.empty()) {  // an output like any other, with no input to compare it with
    const Layout nothing = contiguous_layout(*Shape::make({0}), out.layout.item_size);
    return check_output(out, shape, ConstView{nullptr, out.dtype, nothing}, "slices");
  }
  for (std::size_t i = 0; i < slices.size(); ++i) {
    runner.throw_if_cancelled_at(static_cast<std::int64_t>(i));
    BACKSLICE_RETURN_IF_ERROR(check_output(out, shape, slices[i].dy, at(i, "dy").c_str()));
  }
  return Status();
}

std::int64_t elements_of(std::span<const SliceGradient> slices) {
  std::int64_t sum = 0;
  for (const SliceGradient& slice : slices) sum += slice.dy.elements();
  return sum;
}

// Whether the sum can be formed at all: overlaps need an addition, gaps need a zero.
Status check_sum(const Shape& shape, DType dtype, std::span<const SliceGradient> slices, bool disjoint) {
  if (!disjoint && !can_add(dtype)) {
    return dtype_error("slices overlap, and elements of dtype ", name(dtype), " cannot be added");
  }
  if (has_zero(dtype)) return Status();
  const bool covers = disjoint ? elements_of(slices) == shape.elements()
                               : std::any_of(slices.begin(), slices.end(),
                                             [](const SliceGradient& s) { return s.selection.covers_input(); });
  if (covers) return Status();
  return dtype_error(name(dtype), " has no zero, and the slices do not cover every element");
}

// Strings are moved one by one: cleared, then assigned.
void fill_strings(std::span<const SliceGradient> slices, const View& out) {
  const Selection all = Selection::all(out.shape());
  const Selection none =
      *Selection::make(out.shape(), std::vector<Selection::Axis>(out.shape().rank()), all.result_axes());
  const Layout nothing = contiguous_layout(none.result_shape(), out.layout.item_size);
  reference::overwrite(plan_scatter(none, out.layout, nothing, Widen::No), DType::String, out.data, out.data);
  for (const auto& [selection, dy] : slices) {
    const View selected = select(selection, out);
    reference::overwrite(plan_copy(selected.layout, dy.layout, Widen::No), DType::String, selected.data, dy.data);
  }
}

// Everything that can be refused, before anything is allocated or written. The axes do not depend on where the output
// is, only on how it lies.
struct Checked {
  Shape shape;
  CommonAxes common;
  bool disjoint = true;
};

Result<Checked> check(Ints dims, std::span<const SliceGradient> slices, const Layout* out_layout, DType dtype,
                      const TaskRunner& runner) {
  const auto shape = Shape::make(dims);
  if (!shape.ok()) return shape.status();
  BACKSLICE_RETURN_IF_ERROR(check_slices(*shape, slices, runner));
  Checked checked{*shape, {}, true};
  const std::int64_t item_size = slices.empty() ? backslice::item_size(dtype) : slices[0].dy.layout.item_size;
  if (const auto bytes = size_in_bytes(*shape, item_size); !bytes.ok()) return bytes.status();
  const Layout layout = out_layout != nullptr ? *out_layout : contiguous_layout(*shape, item_size);
  checked.common = common_axes(slices, layout, runner);
  checked.disjoint = are_disjoint(checked.common, runner);
  return checked;
}

void run(const Checked& checked, std::span<const SliceGradient> slices, const View& out, const TaskRunner& runner) {
  if (out.elements() == 0) return;
  if (out.dtype == DType::String) return fill_strings(slices, out);
  fill_tiles(checked.common, out.dtype, out.layout.item_size, checked.disjoint, out.data, {.runner = runner});
}

}  // namespace

Result<Tensor> multi_slice_grad(Ints dims, std::span<const SliceGradient> slices, const Options& options) {
  return without_throwing([&]() -> Result<Tensor> {
    BACKSLICE_RETURN_IF_ERROR(check_makes_result(options));
    if (slices.empty()) return invalid_argument("slices is empty; at least one is needed, for the dtype");
    const DType dtype = slices[0].dy.dtype;
    const TaskRunner runner = runner_of(options);
    const auto checked = check(dims, slices, nullptr, dtype, runner);
    if (!checked.ok()) return checked.status();
    BACKSLICE_RETURN_IF_ERROR(check_sum(checked->shape, dtype, slices, checked->disjoint));
    auto out = Tensor::make(dtype, checked->shape, slices[0].dy.layout.item_size);
    if (out.ok()) run(*checked, slices, out->view(), runner);
    return out;
  });
}

Status multi_slice_grad_into(Ints dims, std::span<const SliceGradient> slices, const View& out,
                             const Options& options) {
  return without_throwing([&]() -> Status {
    const auto shape = Shape::make(dims);
    if (!shape.ok()) return shape.status();
    BACKSLICE_RETURN_IF_ERROR(check_shape(out, "out", *shape, "the shape of the result"));
    const TaskRunner runner = runner_of(options);
    BACKSLICE_RETURN_IF_ERROR(check_slices(*shape, slices, runner));
    BACKSLICE_RETURN_IF_ERROR(check_outputs(*shape, slices, out, runner));
    if (options.accumulate) {
      if (!can_add(out.dtype))
        return dtype_error("accumulate: elements of dtype ", name(out.dtype), " cannot be added");
      std::int64_t step = 0;
      for (const auto& [selection, dy] : slices) {
        runner.throw_if_cancelled_at(step++);
        BACKSLICE_RETURN_IF_ERROR(slice_grad_into(selection, dy, out, options));
      }
      return Status();
    }
    const auto checked = check(dims, slices, &out.layout, out.dtype, runner);
    if (!checked.ok()) return checked.status();
    BACKSLICE_RETURN_IF_ERROR(check_sum(*shape, out.dtype, slices, checked->disjoint));
    run(*checked, slices, out, runner);
    return Status();
  });
}

}  // namespace backslice
