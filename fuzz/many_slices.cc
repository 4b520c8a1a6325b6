// Many slices of one tensor, compared with a plain sum in the order of the list: the first contribution to an element
// is copied, later ones are added. The same slices are also written in that order, with assignments for a model.
#include "backslice/multi_slice.h"
#include "fuzz/input.h"
#include "fuzz/kernel_contexts.h"
#include "fuzz/must.h"
#include "fuzz/placed.h"
#include "fuzz/shared_block.h"
#include "kernels/tiles/kernel.h"

namespace backslice::fuzz {
namespace {

struct Case {
  Numbers shape;
  DType dtype = DType::Float32;
  std::int64_t item_size = 0;
  std::vector<Placed> dys;
  std::vector<SliceGradient> slices;
};

Numbers any_shape(Input& in) {
  Numbers shape = in.small_shape(4, 6);
  if (!shape.empty() && in.one_in(8)) shape.back() = in.within(1, 600);
  if (in.one_in(64)) shape = {in.within(1, 4), in.within(1, 10000)};
  return shape;
}

Case any_case(Input& in) {
  Case c;
  c.shape = any_shape(in);
  c.dtype = in.dtype();
  c.item_size = any_item_size(in, c.dtype);
  const bool large = Shape::make(c.shape).value().elements() > 5000;
  for (std::int64_t left = in.within(1, large ? 3 : 12); left > 0; --left) {
    const Selection selection = any_selection(in, c.shape);
    const Shape& result = selection.result_shape();
    c.dys.emplace_back(in, c.dtype, c.item_size, Numbers(result.begin(), result.end()), Strides::Any);
    c.slices.push_back({selection, c.dys.back().view()});
  }
  return c;
}

struct Model {
  Values sum, written;
  bool overlaps = false, covers = true;
};

Model added_up(const Case& c) {
  const Shape shape = *Shape::make(c.shape);
  const Values zeros(static_cast<std::size_t>(shape.elements()), zero(c.dtype, c.item_size));
  Model model{zeros, zeros};
  std::vector<bool> written(zeros.size());
  for (std::size_t i = 0; i < c.slices.size(); ++i) {
    const Values dy = c.dys[i].values();
    std::size_t next = 0;
    for (std::int64_t position : positions(c.slices[i].selection)) {
      const auto at = static_cast<std::size_t>(position);
      model.overlaps |= written[at];
      const bool adds = written[at] && can_add(c.dtype);
      model.sum[at] = adds ? sum(c.dtype, model.sum[at], dy[next]) : dy[next];
      model.written[at] = dy[next];
      written[at] = true;
      ++next;
    }
  }
  for (bool some : written) model.covers &= some;
  return model;
}

Values accumulated(const Case& c, Values dx) {
  for (std::size_t i = 0; i < c.slices.size(); ++i) {
    const Values dy = c.dys[i].values();
    std::size_t next = 0;
    for (std::int64_t at : positions(c.slices[i].selection)) {
      Value& element = dx[static_cast<std::size_t>(at)];
      element = sum(c.dtype, element, dy[next++]);
    }
  }
  return dx;
}

// Checks whether the call must succeed or be refused. For a dtype without zero either may happen if the slices cover
// all elements and some overlap.
bool check_outcome(const Case& c, const Model& model, const Status& status) {
  const bool addable = can_add(c.dtype) || !model.overlaps;
  if (has_zero(c.dtype)) return agree(status, addable, "multi_slice_grad");
  if (!model.covers || !addable) return agree(status, false, "multi_slice_grad without a zero");
  if (!model.overlaps) return agree(status, true, "multi_slice_grad of a partition");
  return status.ok();
}

// Writes need no addition. For a dtype without zero, slices that cover everything together may be refused if some
// overlap.
bool check_outcome_of_writes(const Case& c, const Model& model, const Status& status) {
  if (has_zero(c.dtype) || !model.covers) return agree(status, has_zero(c.dtype), "multi_slice_write");
  if (!model.overlaps) return agree(status, true, "multi_slice_write of a partition");
  return status.ok();
}

std::string describe(const Case& c) {
  std::string text(name(c.dtype));
  for (const SliceGradient& slice : c.slices) text += "\n" + slice.selection.explain();
  return text;
}

void fuzz_result(Input& in, const Case& c) {
  const Model model = added_up(c);
  const auto dx = multi_slice_grad(c.shape, c.slices, {.executor = &in.executor()});
  if (!check_outcome(c, model, dx.status())) return;
  must(same(c.dtype, values_of(dx->view()), model.sum), "the sum in the order of the list: " + describe(c));
}

void fuzz_writes(Input& in, const Case& c) {
  const Model model = added_up(c);
  const Context context{.executor = &in.executor()};
  const auto made = multi_slice_write(c.shape, c.slices, context);
  if (check_outcome_of_writes(c, model, made.status())) {
    must(same(c.dtype, values_of(made->view()), model.written), "writes in the order of the list: " + describe(c));
  }
  const Placed out(in, c.dtype, c.item_size, c.shape, Strides::Distinct);
  const Values before = out.values();
  const Status status = multi_slice_write_into(c.shape, c.slices, out.view(), context);
  const bool done = check_outcome_of_writes(c, model, status);
  must(same(c.dtype, out.values(), done ? model.written : before), "writes into an output: " + describe(c));
  out.check_gaps();
}

constexpr Write kWrites[] = {Write::Overwrite, Write::IntoZeros, Write::Accumulate};

void fuzz_into(Input& in, const Case& c) {
  const Placed out(in, c.dtype, c.item_size, c.shape, Strides::Distinct);
  const Model model = added_up(c);
  const Write write = in.pick(kWrites);
  if (write == Write::IntoZeros) out.set_zero();
  const Values before = out.values();
  const bool accumulate = write == Write::Accumulate;
  const Context context{.executor = &in.executor()};
  const Status status = multi_slice_grad_into(c.shape, c.slices, out.view(), write, context);
  const bool done = accumulate ? agree(status, can_add(c.dtype), "accumulate") : check_outcome(c, model, status);
  const Values expected = !done ? before : accumulate ? accumulated(c, before) : model.sum;
  must(same(c.dtype, out.values(), expected), "the sum in the order of the list: " + describe(c));
  out.check_gaps();
}

constexpr std::int64_t kTiles[] = {kTuning.tile, 1, 100};

// Tests the kernel itself, with any target and stores. (The public function uses the best.)
void fuzz_kernel(Input& in, const Case& c) {
  const Model model = added_up(c);
  if (c.dtype == DType::String) return;
  const Placed out(in, c.dtype, c.item_size, c.shape, Strides::Distinct);
  const KernelContext context = any_kernel_context(in);
  const CommonAxes common = common_axes(c.slices, out.view().layout, context.tasks);
  const bool disjoint = are_disjoint(common, context.tasks);
  must(disjoint == !model.overlaps, "slices are disjoint where no element is taken twice: " + describe(c));
  const bool adds = can_add(c.dtype) && in.flag();
  const Overlap overlap = disjoint ? Overlap::None : adds ? Overlap::Added : Overlap::LastWins;
  if (out.view().elements() > 0) {
    const Write write = in.flag() ? Write::IntoZeros : Write::Overwrite;
    if (write == Write::IntoZeros) out.set_zero();
    fill_tiles(common, c.dtype, c.item_size, overlap, write, out.view().data, context, in.pick(kTiles));
  }
  const Values& expected = overlap == Overlap::LastWins ? model.written : model.sum;
  must(same(c.dtype, out.values(), expected), "the result of this kernel: " + describe(c));
  out.check_gaps();
}

// An output of any strides, and gradients that may lie in the same memory: refused exactly if they overlap.
void fuzz_overlap(Input& in, const Case& c) {
  const Shape shape = *Shape::make(c.shape);
  if (!can_add(c.dtype) || !has_zero(c.dtype) || !SharedBlock::has_room_for(shape)) return;
  SharedBlock block;
  const View out = block.view(in, c.dtype, c.item_size, shape);
  std::vector<SliceGradient> slices = c.slices;
  std::vector<ConstView> inside;
  for (SliceGradient& slice : slices) {
    if (!in.one_in(3)) continue;
    slice.dy = block.view(in, c.dtype, c.item_size, slice.selection.result_shape());
    inside.push_back(slice.dy);
  }
  const bool accumulate = in.flag();
  const Write write = accumulate ? Write::Accumulate : Write::Overwrite;
  const Context context{.executor = &in.executor()};
  agree(multi_slice_grad_into(c.shape, slices, out, write, context), !block.overlaps(out, inside),
        "many slices into an output of these strides");
}

}  // namespace
}  // namespace backslice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace backslice::fuzz;
  Input in(data, size);
  const Case c = any_case(in);
  const auto what = in.within(0, 6);
  switch (!is_on_cpu() && what == 4 ? 0 : what) {  // 4 tests the CPU's kernel
    case 0:
    case 1: fuzz_result(in, c); break;
    case 2:
    case 3: fuzz_into(in, c); break;
    case 4: fuzz_kernel(in, c); break;
    case 5: fuzz_overlap(in, c); break;
    default: fuzz_writes(in, c); break;
  }
  return 0;
}
