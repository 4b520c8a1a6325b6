// TensorFlow's StridedSlice and StridedSliceGrad: lower to a Selection, then slice. Both steps have their boundary.
#include <utility>

#include "backslice/slice.h"

namespace backslice {

Result<Tensor> strided_slice(const ConstView& input, const TfSlice& spec, const Context& context) {
  auto selection = Selection::from_tf(input.shape(), spec);
  if (!selection.ok()) return std::move(selection).status();
  return slice(*selection, input, context);
}

Status strided_slice_into(const ConstView& input, const TfSlice& spec, const View& out, const Context& context) {
  auto selection = Selection::from_tf(input.shape(), spec);
  if (!selection.ok()) return std::move(selection).status();
  return slice_into(*selection, input, out, context);
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
