// TensorFlow's StridedSlice and StridedSliceGrad: lower to a Selection, then slice. Both steps have their boundary.
#include <utility>

#include "backslice/slice.h"
#include "ops/checks.h"

namespace backslice {

Result<Tensor> strided_slice(const ConstView& input, const TfSlice& spec, const Context& context) {
  auto selection = Selection::from_tf(input.shape(), spec);
  if (!selection.ok()) return std::move(selection).status();
  auto made = slice(*selection, input, context);
  if (!made.ok()) return named_as(std::move(made).status(), input, "input");
  return made;
}

Status strided_slice_into(const ConstView& input, const TfSlice& spec, const View& out, const Context& context) {
  auto selection = Selection::from_tf(input.shape(), spec);
  if (!selection.ok()) return std::move(selection).status();
  return named_as(slice_into(*selection, input, out, context), input, "input");
}

Result<Tensor> strided_slice_grad(Ints shape, const TfSlice& spec, const ConstView& dy, const Context& context) {
  auto selection = Selection::from_tf(shape, spec);
  if (!selection.ok()) return std::move(selection).status();
  return slice_grad(*selection, dy, context);
}

Status strided_slice_grad_into(Ints shape, const TfSlice& spec, const ConstView& dy, const View& out, Write write,
                               const Context& context) {
  auto selection = Selection::from_tf(shape, spec);
  if (!selection.ok()) return std::move(selection).status();
  return slice_grad_into(*selection, dy, out, write, context);
}

}  // namespace backslice
