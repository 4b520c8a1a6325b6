// slice and slice_grad: check, schedule, run the kernel.
#include "backslice/slice.h"

#include "core/errors.h"
#include "core/items.h"
#include "ops/checks.h"
#include "ops/move.h"
#include "ops/slices.h"
#include "ops/small_gradient.h"

namespace backslice {
namespace {

Status check_slice(const Selection& selection, const ConstView& x, const char* argument) {
  BACKSLICE_RETURN_IF_ERROR(check_input(x, argument, RunsOn::AnyDevice));
  return check_shape(x.shape(), argument, selection.shape(), "the shape the selection is for");
}

Status check_slice_grad(const Selection& selection, const ConstView& dy, Write write, const char* argument) {
  BACKSLICE_RETURN_IF_ERROR(check_input(dy, argument, RunsOn::AnyDevice));
  BACKSLICE_RETURN_IF_ERROR(check_shape(dy.shape(), argument, selection.result_shape(), "the shape of the slice"));
  return check_gradient_dtype(dy.dtype, argument, selection, write);
}

void run_slice(const Selection& selection, const ConstView& x, const View& out, const Call& call) {
  const Schedule schedule = schedule_slice(selection, out.layout, x.layout, x.dtype);
  run_fill(schedule, x.dtype, out.data, x.data, call);
}

}  // namespace

namespace unguarded {

Status slice_into(const Selection& selection, const ConstView& x, const View& out, const Context& context,
                  const char* argument) {
  BACKSLICE_RETURN_IF_ERROR(check_slice(selection, x, argument));
  BACKSLICE_RETURN_IF_ERROR(check_output(out, selection.result_shape(), x, argument));
  const Call call(context, x.device);
  call.writing([&] { run_slice(selection, x, out, call); });
  return Status();
}

Result<Tensor> slice(const Selection& selection, const ConstView& x, const Context& context, const char* argument) {
  BACKSLICE_RETURN_IF_ERROR(check_slice(selection, x, argument));
  const Call call(context, x.device);
  auto out = call.allocate(x.dtype, selection.result_shape(), x.layout.item_size);
  if (out.ok()) run_slice(selection, x, out->view(), call);
  return out;
}

Status slice_grad_into(const Selection& selection, const ConstView& dy, const View& out, Write write,
                       const Context& context, const char* argument) {
  BACKSLICE_RETURN_IF_ERROR(check_slice_grad(selection, dy, write, argument));
  BACKSLICE_RETURN_IF_ERROR(check_output(out, selection.shape(), dy, argument));
  if (write_small_gradient(selection, dy, out, write, context)) return Status();
  const Call call(context, dy.device);
  const Schedule schedule = schedule_gradient(selection, out.layout, dy.layout, write, dy.dtype);
  const auto run = write == Write::Accumulate ? run_add : run_fill;
  call.writing([&] { run(schedule, dy.dtype, out.data, dy.data, call); });
  return Status();
}

Result<Tensor> slice_grad(const Selection& selection, const ConstView& dy, const Context& context,
                          const char* argument) {
  BACKSLICE_RETURN_IF_ERROR(check_slice_grad(selection, dy, Write::Overwrite, argument));
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
