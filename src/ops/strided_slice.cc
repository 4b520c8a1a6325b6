// TensorFlow's StridedSlice and StridedSliceGrad: convert to a Selection, then slice.
#include <utility>

#include "core/boundary.h"
#include "ops/slices.h"
#include "select/tf_lists.h"

namespace backslice {

Result<Tensor> strided_slice(const ConstView& input, const TfSlice& spec, const Context& context) {
  return without_throwing([&]() -> Result<Tensor> {
    auto selection = selection_from_tf(input.shape(), lists_of(spec));
    if (!selection.ok()) return std::move(selection).status();
    return unguarded::slice(*selection, input, context, "input");
  });
}

Status strided_slice_into(const ConstView& input, const TfSlice& spec, const View& out, const Context& context) {
  return without_throwing([&] {
    auto selection = selection_from_tf(input.shape(), lists_of(spec));
    if (!selection.ok()) return std::move(selection).status();
    return unguarded::slice_into(*selection, input, out, context, "input");
  });
}

Result<Tensor> strided_slice_grad(Ints shape, const TfSlice& spec, const ConstView& dy, const Context& context) {
  return without_throwing([&]() -> Result<Tensor> {
    auto selection = selection_from_tf(shape, lists_of(spec));
    if (!selection.ok()) return std::move(selection).status();
    return unguarded::slice_grad(*selection, dy, context);
  });
}

Status strided_slice_grad_into(Ints shape, const TfSlice& spec, const ConstView& dy, const View& out, Write write,
                               const Context& context) {
  return without_throwing([&] {
    auto selection = selection_from_tf(shape, lists_of(spec));
    if (!selection.ok()) return std::move(selection).status();
    return unguarded::slice_grad_into(*selection, dy, out, write, context);
  });
}

}  // namespace backslice
