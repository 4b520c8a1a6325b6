// ONNX's Slice and ONNX Runtime's SliceGrad: lower to a Selection, then slice.
#include <utility>

#include "backslice/slice.h"
#include "core/errors.h"
#include "core/reshape.h"
#include "ops/checks.h"
#include "ops/move.h"
#include "ops/slices.h"

namespace backslice {
namespace {

// ONNX Runtime's Slice refuses scalars; its SliceGrad does not.
Result<Selection> lower_forward(const ConstView& data, const OnnxSlice& spec) {
  if (data.shape().rank() > 0) return Selection::from_onnx(data.shape(), spec);
  return invalid_argument("Cannot slice scalars: data has rank 0").at("data");
}

// grad as the shape of the slice. A view where strides can say it; otherwise `copy` holds the elements in order.
struct ShapedGradient {
  ConstView view;
  std::optional<Tensor> copy;
};

Result<ShapedGradient> with_shape(const ConstView& grad, const Shape& shape, const Context& context) {
  if (grad.elements() != shape.elements()) {
    return invalid_argument("grad has ", counted(grad.elements(), "element", "elements"), " (shape ",
                            Ints(grad.shape()), "), the slice has ", shape.elements(), " (shape ", Ints(shape), ")")
        .at("grad");
  }
  if (const auto layout = reshape(grad.layout, shape))
    return ShapedGradient{{grad.data, grad.dtype, *layout, grad.device}, {}};
  auto copy = copy_of(grad, Call(context, grad.device));
  if (!copy.ok()) return copy.status();
  const ConstView view{copy->view().data, grad.dtype, contiguous_layout(shape, grad.layout.item_size), grad.device};
  return ShapedGradient{view, *std::move(copy)};
}

// Checks the gradient and shapes it. An output is checked against the original grad, as a copy would hide that they
// overlap; with_shape comes last, since it may allocate.
Result<ShapedGradient> shaped_gradient(const Selection& selection, const ConstView& grad, const View* out,
                                       const Context& context) {
  BACKSLICE_RETURN_IF_ERROR(check_input(grad, "grad", RunsOn::AnyDevice));
  if (out != nullptr) BACKSLICE_RETURN_IF_ERROR(check_output(*out, selection.shape(), grad, "grad"));
  return with_shape(grad, selection.result_shape(), context);
}

}  // namespace

Result<Tensor> onnx_slice(const ConstView& data, const OnnxSlice& spec, const Context& context) {
  return without_throwing([&]() -> Result<Tensor> {
    auto selection = lower_forward(data, spec);
    if (!selection.ok()) return std::move(selection).status();
    return unguarded::slice(*selection, data, context, "data");
  });
}

Status onnx_slice_into(const ConstView& data, const OnnxSlice& spec, const View& out, const Context& context) {
  return without_throwing([&] {
    auto selection = lower_forward(data, spec);
    if (!selection.ok()) return std::move(selection).status();
    return unguarded::slice_into(*selection, data, out, context, "data");
  });
}

Result<Tensor> onnx_slice_grad(const Selection& selection, const ConstView& grad, const Context& context) {
  return without_throwing([&]() -> Result<Tensor> {
    auto shaped = shaped_gradient(selection, grad, nullptr, context);
    if (!shaped.ok()) return std::move(shaped).status();
    return unguarded::slice_grad(selection, shaped->view, context, "grad");
  });
}

Status onnx_slice_grad_into(const Selection& selection, const ConstView& grad, const View& out, Write write,
                            const Context& context) {
  return without_throwing([&] {
    auto shaped = shaped_gradient(selection, grad, &out, context);
    if (!shaped.ok()) return std::move(shaped).status();
    return unguarded::slice_grad_into(selection, shaped->view, out, write, context, "grad");
  });
}

Result<Tensor> onnx_slice_grad(const ConstView& grad, Ints shape, const OnnxSlice& spec, const Context& context) {
  auto selection = Selection::from_onnx(shape, spec);
  if (!selection.ok()) return std::move(selection).status();
  return onnx_slice_grad(*selection, grad, context);
}

Status onnx_slice_grad_into(const ConstView& grad, Ints shape, const OnnxSlice& spec, const View& out, Write write,
                            const Context& context) {
  auto selection = Selection::from_onnx(shape, spec);
  if (!selection.ok()) return std::move(selection).status();
  return onnx_slice_grad_into(*selection, grad, out, write, context);
}

}  // namespace backslice
