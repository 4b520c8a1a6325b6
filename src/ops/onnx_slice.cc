// ONNX's Slice and ONNX Runtime's SliceGrad: lower to a Selection, then slice.
#include "backslice/slice.h"
#include "core/errors.h"
#include "core/reshape.h"
#include "ops/checks.h"
#include "ops/move.h"

namespace backslice {
namespace {

// ONNX Runtime's Slice refuses scalars; its SliceGrad does not.
Result<Selection> lower_forward(const ConstView& data, const OnnxSlice& spec) {
  if (data.shape().rank() == 0) return invalid_argument("Cannot slice scalars: data has rank 0");
  return Selection::from_onnx(data.shape(), spec);
}

// grad as the shape of the slice. A view where strides can say it; otherwise `copy` holds the elements in order.
struct ShapedGradient {
  ConstView view;
  std::optional<Tensor> copy;
};

Result<ShapedGradient> with_shape(const ConstView& grad, const Shape& shape, const Context& context) {
  if (grad.elements() != shape.elements()) {
    return invalid_argument("grad has ", grad.elements(), " elements (shape ", Ints(grad.shape()), "), the slice has ",
                            shape.elements(), " (shape ", Ints(shape), ")");
  }
  if (const auto layout = reshape(grad.layout, shape))
    return ShapedGradient{{grad.data, grad.dtype, *layout, grad.device}, {}};
  auto copy = copy_of(grad, Call(context, grad.device));
  if (!copy.ok()) return copy.status();
  const ConstView view{copy->view().data, grad.dtype, contiguous_layout(shape, grad.layout.item_size), grad.device};
  return ShapedGradient{view, *std::move(copy)};
}

// Shapes the gradient and hands it to `run`. An output is checked against the original grad, as a copy would hide that
// they overlap; with_shape comes last, since it may allocate.
template <class Run>
auto run_gradient(const Selection& selection, const ConstView& grad, const View* out, const Context& context, Run run)
    -> decltype(run(grad)) {
  BACKSLICE_RETURN_IF_ERROR(check_input(grad, "grad", RunsOn::AnyDevice));
  if (out != nullptr) BACKSLICE_RETURN_IF_ERROR(check_output(*out, selection.shape(), grad, "grad"));
  const auto shaped = with_shape(grad, selection.result_shape(), context);
  if (!shaped.ok()) return shaped.status();
  return run(shaped->view);
}

}  // namespace

Result<Tensor> onnx_slice(const ConstView& data, const OnnxSlice& spec, const Context& context) {
  return without_throwing([&]() -> Result<Tensor> {
    const auto selection = lower_forward(data, spec);
    if (!selection.ok()) return selection.status();
    return slice(*selection, data, context);
  });
}

Status onnx_slice_into(const ConstView& data, const OnnxSlice& spec, const View& out, const Context& context) {
  return without_throwing([&]() -> Status {
    const auto selection = lower_forward(data, spec);
    if (!selection.ok()) return selection.status();
    return slice_into(*selection, data, out, context);
  });
}

Result<Tensor> onnx_slice_grad(const Selection& selection, const ConstView& grad, const Context& context) {
  return without_throwing([&]() -> Result<Tensor> {
    return run_gradient(selection, grad, nullptr, context,
                        [&](const ConstView& shaped) { return slice_grad(selection, shaped, context); });
  });
}

Status onnx_slice_grad_into(const Selection& selection, const ConstView& grad, const View& out, Write write,
                            const Context& context) {
  return without_throwing([&]() -> Status {
    return run_gradient(selection, grad, &out, context, [&](const ConstView& shaped) {
      return slice_grad_into(selection, shaped, out, write, context);
    });
  });
}

Result<Tensor> onnx_slice_grad(const ConstView& grad, Ints shape, const OnnxSlice& spec, const Context& context) {
  return without_throwing([&]() -> Result<Tensor> {
    const auto selection = Selection::from_onnx(shape, spec);
    if (!selection.ok()) return selection.status();
    return onnx_slice_grad(*selection, grad, context);
  });
}

Status onnx_slice_grad_into(const ConstView& grad, Ints shape, const OnnxSlice& spec, const View& out, Write write,
                            const Context& context) {
  return without_throwing([&]() -> Status {
    const auto selection = Selection::from_onnx(shape, spec);
    if (!selection.ok()) return selection.status();
    return onnx_slice_grad_into(*selection, grad, out, write, context);
  });
}

}  // namespace backslice
