// ONNX's Slice and ONNX Runtime's SliceGrad: lower to a Selection, then slice. Each step has its boundary.
#include <utility>

#include "backslice/slice.h"
#include "core/errors.h"
#include "core/reshape.h"
#include "ops/checks.h"
#include "ops/move.h"

namespace backslice {
namespace {

// ONNX Runtime's Slice refuses scalars; its SliceGrad does not.
Result<Selection> lower_forward(const ConstView& data, const OnnxSlice& spec) {
  if (data.shape().rank() > 0) return Selection::from_onnx(data.shape(), spec);
  return without_throwing(
      [&]() -> Result<Selection> { return invalid_argument("Cannot slice scalars: data has rank 0").at("data"); });
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
  return without_throwing([&]() -> Result<ShapedGradient> {
    BACKSLICE_RETURN_IF_ERROR(check_input(grad, "grad", RunsOn::AnyDevice));
    if (out != nullptr) BACKSLICE_RETURN_IF_ERROR(check_output(*out, selection.shape(), grad, "grad"));
    return with_shape(grad, selection.result_shape(), context);
  });
}

// An error of slice_grad, whose dy is the grad here.
Status of_grad(Status error) {
  return without_throwing([&] { return renamed(std::move(error), "dy", "grad"); });
}

}  // namespace

Result<Tensor> onnx_slice(const ConstView& data, const OnnxSlice& spec, const Context& context) {
  auto selection = lower_forward(data, spec);
  if (!selection.ok()) return std::move(selection).status();
  auto made = slice(*selection, data, context);
  if (!made.ok()) return named_as(std::move(made).status(), data, "data");
  return made;
}

Status onnx_slice_into(const ConstView& data, const OnnxSlice& spec, const View& out, const Context& context) {
  auto selection = lower_forward(data, spec);
  if (!selection.ok()) return std::move(selection).status();
  return named_as(slice_into(*selection, data, out, context), data, "data");
}

Result<Tensor> onnx_slice_grad(const Selection& selection, const ConstView& grad, const Context& context) {
  auto shaped = shaped_gradient(selection, grad, nullptr, context);
  if (!shaped.ok()) return std::move(shaped).status();
  auto made = slice_grad(selection, shaped->view, context);
  if (!made.ok()) return of_grad(std::move(made).status());
  return made;
}

Status onnx_slice_grad_into(const Selection& selection, const ConstView& grad, const View& out, Write write,
                            const Context& context) {
  auto shaped = shaped_gradient(selection, grad, &out, context);
  if (!shaped.ok()) return std::move(shaped).status();
  Status done = slice_grad_into(selection, shaped->view, out, write, context);
  return done.ok() ? done : of_grad(std::move(done));
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
