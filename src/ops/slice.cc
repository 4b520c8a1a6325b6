// slice and slice_grad: check, schedule, run the kernel.
#include "backslice/slice.h"

#include <algorithm>

#include "core/errors.h"
#include "core/items.h"
#include "ops/checks.h"
#include "ops/move.h"
#include "ops/slices.h"
#include "ops/small_move.h"

namespace backslice {
namespace {

Status check_slice(const Selection& selection, const ConstView& x) {
  BACKSLICE_RETURN_IF_ERROR(check_input(x, "x", RunsOn::AnyDevice));
  return check_shape(x.shape(), "x", selection.shape(), "the shape the selection is for");
}

Status check_slice_grad(const Selection& selection, const ConstView& dy, Write write) {
  BACKSLICE_RETURN_IF_ERROR(check_input(dy, "dy", RunsOn::AnyDevice));
  BACKSLICE_RETURN_IF_ERROR(check_shape(dy.shape(), "dy", selection.result_shape(), "the shape of the slice"));
  return check_gradient_dtype(dy.dtype, "dy", selection, write);
}

void run_slice(const Selection& selection, const ConstView& x, const View& out, const Call& call) {
  const Schedule schedule = schedule_slice(selection, out.layout, x.layout, x.dtype);
  run_fill(schedule, x.dtype, out.data, x.data, call);
}

// Whether nothing of the context matters to a small gradient, and the environment was found right.
bool is_usual(const Context& context) {
  return context.executor == nullptr && context.allocator == nullptr && context.cancelled == nullptr &&
         ready_rows() != nullptr;
}

SmallMove small_scatter(const Selection& selection, const Layout& dx, const Layout& dy) {
  SmallMove move(dy.item_size);
  for (int i = 0; i < dx.shape.rank(); ++i) move.skip(selection.axis(i).start * dx.strides[i], 0);
  const Ints result_axes = selection.result_axes();
  for (std::size_t i = 0; i < result_axes.size(); ++i) {
    if (result_axes[i] == Selection::kNewAxis) continue;
    const auto source = static_cast<int>(result_axes[i]);
    const Selection::Axis& axis = selection.axis(source);
    move.add_axis(axis.count, dx.strides[source] * axis.step, dy.strides[static_cast<std::ptrdiff_t>(i)]);
  }
  move.finish();
  return move;
}

// False where nothing is done, since that takes too many runs.
bool zero_small(const View& out) {
  SmallMove all(out.layout.item_size);
  for (int i = 0; i < out.shape().rank(); ++i) {
    all.add_axis(out.shape()[i], out.layout.strides[i], out.layout.strides[i]);
  }
  all.finish();
  if (all.is_short()) all.zero(out.data);
  return all.is_short();
}

// Does what takes less time than a plan; false where that is nothing. Precondition: the arguments are right.
bool write_small_gradient(const Selection& selection, const ConstView& dy, const View& out, Write write,
                          const Context& context) {
  const std::int64_t size = std::max<std::int64_t>(1, dy.layout.item_size);
  const std::int64_t out_bytes = std::min(out.elements(), kTuning.small_zeros / size + 1) * size;
  const std::int64_t most = write == Write::Overwrite ? SmallMove::most_selected(out_bytes) : SmallMove::kMostBytes;
  const bool is_small = are_bytes(dy.dtype) && dy.device.is_cpu() && dy.elements() > 0 &&
                        dy.elements() <= most / size && out.shape().rank() <= SmallMove::kMostAxes;
  if (!is_small || !is_usual(context)) return false;
  const SmallMove move = small_scatter(selection, out.layout, dy.layout);
  if (!move.is_short()) return false;
  if (write == Write::Accumulate) return move.add(dy.dtype, out.data, dy.data);
  if (write == Write::Overwrite && !selection.covers_input() && !zero_small(out)) return false;
  move.copy(out.data, dy.data);
  return true;
}

}  // namespace

namespace unguarded {

Status slice_into(const Selection& selection, const ConstView& x, const View& out, const Context& context) {
  BACKSLICE_RETURN_IF_ERROR(check_slice(selection, x));
  BACKSLICE_RETURN_IF_ERROR(check_output(out, selection.result_shape(), x, "the input"));
  const Call call(context, x.device);
  call.writing([&] { run_slice(selection, x, out, call); });
  return Status();
}

Result<Tensor> slice(const Selection& selection, const ConstView& x, const Context& context) {
  BACKSLICE_RETURN_IF_ERROR(check_slice(selection, x));
  const Call call(context, x.device);
  auto out = call.allocate(x.dtype, selection.result_shape(), x.layout.item_size);
  if (out.ok()) run_slice(selection, x, out->view(), call);
  return out;
}

Status slice_grad_into(const Selection& selection, const ConstView& dy, const View& out, Write write,
                       const Context& context) {
  BACKSLICE_RETURN_IF_ERROR(check_slice_grad(selection, dy, write));
  BACKSLICE_RETURN_IF_ERROR(check_output(out, selection.shape(), dy, "dy"));
  if (write_small_gradient(selection, dy, out, write, context)) return Status();
  const Call call(context, dy.device);
  const Schedule schedule = schedule_gradient(selection, out.layout, dy.layout, write, dy.dtype);
  const auto run = write == Write::Accumulate ? run_add : run_fill;
  call.writing([&] { run(schedule, dy.dtype, out.data, dy.data, call); });
  return Status();
}

Result<Tensor> slice_grad(const Selection& selection, const ConstView& dy, const Context& context) {
  BACKSLICE_RETURN_IF_ERROR(check_slice_grad(selection, dy, Write::Overwrite));
  if (const auto bytes = size_in_bytes(selection.shape(), dy.layout.item_size); !bytes.ok()) return bytes.status();
  const Call call(context, dy.device);
  const Schedule schedule = schedule_new_gradient(selection, dy.layout, call.free_zeros(), dy.dtype);
  auto out = call.allocate_for(schedule, dy.dtype, selection.shape(), dy.layout.item_size);
  if (out.ok()) run_fill(schedule, dy.dtype, out->view().data, dy.data, call);
  return out;
}

}  // namespace unguarded

Status slice_into(const Selection& selection, const ConstView& x, const View& out, const Context& context) {
  return without_throwing([&] { return unguarded::slice_into(selection, x, out, context); });
}

Result<Tensor> slice(const Selection& selection, const ConstView& x, const Context& context) {
  return without_throwing([&] { return unguarded::slice(selection, x, context); });
}

Status slice_grad_into(const Selection& selection, const ConstView& dy, const View& out, Write write,
                       const Context& context) {
  return without_throwing([&] { return unguarded::slice_grad_into(selection, dy, out, write, context); });
}

Result<Tensor> slice_grad(const Selection& selection, const ConstView& dy, const Context& context) {
  return without_throwing([&] { return unguarded::slice_grad(selection, dy, context); });
}

Tensor select(const Selection& selection, const Tensor& tensor) {
  Tensor shared = tensor;  // whose view may be written, as that of every copy
  return Tensor::of(tensor.buffer(), select(selection, shared.view()));
}

}  // namespace backslice
