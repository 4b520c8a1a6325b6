// slice and slice_grad: check, plan, run the kernel.
#include "backslice/slice.h"

#include "backslice/plan.h"
#include "core/errors.h"
#include "kernels/slice/kernel.h"
#include "ops/checks.h"
#include "plan/strategy.h"

namespace backslice {
namespace {

Status check_slice(const Selection& selection, const ConstView& x, const Options& options) {
  if (options.accumulate) return invalid_argument("accumulate is for gradients; a slice has nothing to add to");
  BACKSLICE_RETURN_IF_ERROR(check_input(x, "x"));
  return check_shape(x, "x", selection.shape(), "the shape the selection is for");
}

Status check_slice_grad(const Selection& selection, const ConstView& dy, const Options& options) {
  BACKSLICE_RETURN_IF_ERROR(check_input(dy, "dy"));
  BACKSLICE_RETURN_IF_ERROR(check_shape(dy, "dy", selection.result_shape(), "the shape of the slice"));
  return check_gradient_dtype(dy.dtype, selection, options);
}

FillOptions fill_options(const Options& options) { return {.runner = runner_of(options)}; }

void run_slice(const Selection& selection, const ConstView& x, const View& out, const Options& options) {
  const ConstView selected = select(selection, x);
  const Plan plan = plan_copy(out.layout, selected.layout, widen_for(x.dtype));
  fill(plan, x.dtype, out.data, selected.data, fill_options(options));
}

void run_slice_grad(const Selection& selection, const ConstView& dy, const View& out, const Options& options) {
  if (options.accumulate) {
    const View selected = select(selection, out);
    const Plan plan = plan_copy(selected.layout, dy.layout, Widen::No);
    return add(plan, dy.dtype, selected.data, dy.data, fill_options(options));
  }
  const Plan plan = plan_scatter(selection, out.layout, dy.layout, widen_for(dy.dtype));
  fill(plan, dy.dtype, out.data, dy.data, fill_options(options));
}

Result<Tensor> make_sparse_gradient(const Selection& selection, const ConstView& dy, const Options& options) {
  auto out = Tensor::make(dy.dtype, selection.shape(), dy.layout.item_size, Contents::Zero);
  if (!out.ok()) return out;
  const View selected = select(selection, out->view());
  fill(plan_copy(selected.layout, dy.layout, Widen::Yes), dy.dtype, selected.data, dy.data, fill_options(options));
  return out;
}

}  // namespace

Status slice_into(const Selection& selection, const ConstView& x, const View& out, const Options& options) {
  return without_throwing([&] {
    BACKSLICE_RETURN_IF_ERROR(check_slice(selection, x, options));
    BACKSLICE_RETURN_IF_ERROR(check_output(out, selection.result_shape(), x, "the input"));
    run_slice(selection, x, out, options);
    return Status();
  });
}

Result<Tensor> slice(const Selection& selection, const ConstView& x, const Options& options) {
  return without_throwing([&]() -> Result<Tensor> {
    BACKSLICE_RETURN_IF_ERROR(check_slice(selection, x, options));
    auto out = Tensor::make(x.dtype, selection.result_shape(), x.layout.item_size);
    if (out.ok()) run_slice(selection, x, out->view(), options);
    return out;
  });
}

Status slice_grad_into(const Selection& selection, const ConstView& dy, const View& out, const Options& options) {
  return without_throwing([&] {
    BACKSLICE_RETURN_IF_ERROR(check_slice_grad(selection, dy, options));
    BACKSLICE_RETURN_IF_ERROR(check_output(out, selection.shape(), dy, "dy"));
    run_slice_grad(selection, dy, out, options);
    return Status();
  });
}

Result<Tensor> slice_grad(const Selection& selection, const ConstView& dy, const Options& options) {
  return without_throwing([&]() -> Result<Tensor> {
    BACKSLICE_RETURN_IF_ERROR(check_makes_result(options));
    BACKSLICE_RETURN_IF_ERROR(check_slice_grad(selection, dy, options));
    if (const auto bytes = size_in_bytes(selection.shape(), dy.layout.item_size); !bytes.ok()) return bytes.status();
    const Layout layout = contiguous_layout(selection.shape(), dy.layout.item_size);
    if (dy.dtype != DType::String && prefers_fresh_zeros(selection, layout)) {
      return make_sparse_gradient(selection, dy, options);
    }
    auto out = Tensor::make(dy.dtype, selection.shape(), dy.layout.item_size);
    if (out.ok()) run_slice_grad(selection, dy, out->view(), options);
    return out;
  });
}

}  // namespace backslice
