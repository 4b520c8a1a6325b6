/// @file
/// Slices and their gradients, on the normal form.
///
///     Result<Selection> s = Selection::from_index({4, 5}, "1:3, ::2");
///     if (!s) return s.status();
///     Result<Tensor> y = slice(*s, x);          // x has shape [4,5], y has shape [2,3]
///     Result<Tensor> dx = slice_grad(*s, dy);   // dy has shape [2,3], dx has shape [4,5]: zero where not selected
///
/// Each operation comes as a pair: one makes its result, the other (..._into) fills the caller's. An output has exactly
/// the result's dtype and shape, any strides, and overlaps neither itself nor an input. A refused call changes nothing.
///
///     Status written = slice_grad_into(*s, dy, dx);                     // writes all of dx
///     Status added = slice_grad_into(*s, dy, dx, Write::Accumulate);    // dx[1:3, ::2] += dy
#pragma once

#include "backslice/context.h"
#include "backslice/selection.h"
#include "backslice/tensor.h"

namespace backslice {

/// x[selection], in new memory or in `out`.
BACKSLICE_EXPORT Result<Tensor> slice(const Selection& selection, const ConstView& x, const Context& = {});
BACKSLICE_EXPORT Status slice_into(const Selection& selection, const ConstView& x, const View& out,
                                   const Context& = {});

/// Returns the gradient of slice(selection, x) with respect to x: dy where selected, zero elsewhere. dy has exactly
/// selection.result_shape().
BACKSLICE_EXPORT Result<Tensor> slice_grad(const Selection& selection, const ConstView& dy, const Context& = {});
BACKSLICE_EXPORT Status slice_grad_into(const Selection& selection, const ConstView& dy, const View& out,
                                        Write write = Write::Overwrite, const Context& = {});
inline Status slice_grad_into(const Selection& selection, const ConstView& dy, const View& out,
                              const Context& context) {
  return slice_grad_into(selection, dy, out, Write::Overwrite, context);
}

/// The selected elements as a tensor that shares the memory, without a copy. Precondition: the tensor has
/// selection.shape().
BACKSLICE_EXPORT Tensor select(const Selection& selection, const Tensor& tensor);

/// TensorFlow's StridedSlice and StridedSliceGrad, with its order of arguments. dy has exactly the shape of the slice.
BACKSLICE_EXPORT Result<Tensor> strided_slice(const ConstView& input, const TfSlice& spec, const Context& = {});
BACKSLICE_EXPORT Status strided_slice_into(const ConstView& input, const TfSlice& spec, const View& out,
                                           const Context& = {});
BACKSLICE_EXPORT Result<Tensor> strided_slice_grad(Ints shape, const TfSlice& spec, const ConstView& dy,
                                                   const Context& = {});
BACKSLICE_EXPORT Status strided_slice_grad_into(Ints shape, const TfSlice& spec, const ConstView& dy, const View& out,
                                                Write write = Write::Overwrite, const Context& = {});
inline Status strided_slice_grad_into(Ints shape, const TfSlice& spec, const ConstView& dy, const View& out,
                                      const Context& context) {
  return strided_slice_grad_into(shape, spec, dy, out, Write::Overwrite, context);
}

/// ONNX's Slice and ONNX Runtime's SliceGrad, with their order of arguments. grad, ONNX's dY, may have any shape with
/// as many elements as the slice, and is then read in row-major order, as ONNX Runtime does.
BACKSLICE_EXPORT Result<Tensor> onnx_slice(const ConstView& data, const OnnxSlice& spec, const Context& = {});
BACKSLICE_EXPORT Status onnx_slice_into(const ConstView& data, const OnnxSlice& spec, const View& out,
                                        const Context& = {});
BACKSLICE_EXPORT Result<Tensor> onnx_slice_grad(const ConstView& grad, Ints shape, const OnnxSlice& spec,
                                                const Context& = {});
BACKSLICE_EXPORT Status onnx_slice_grad_into(const ConstView& grad, Ints shape, const OnnxSlice& spec, const View& out,
                                             Write write = Write::Overwrite, const Context& = {});
inline Status onnx_slice_grad_into(const ConstView& grad, Ints shape, const OnnxSlice& spec, const View& out,
                                   const Context& context) {
  return onnx_slice_grad_into(grad, shape, spec, out, Write::Overwrite, context);
}

/// SliceGrad of a slice that is lowered already, with Selection::from_onnx: lowered once, it serves many gradients.
BACKSLICE_EXPORT Result<Tensor> onnx_slice_grad(const Selection& selection, const ConstView& grad, const Context& = {});
BACKSLICE_EXPORT Status onnx_slice_grad_into(const Selection& selection, const ConstView& grad, const View& out,
                                             Write write = Write::Overwrite, const Context& = {});
inline Status onnx_slice_grad_into(const Selection& selection, const ConstView& grad, const View& out,
                                   const Context& context) {
  return onnx_slice_grad_into(selection, grad, out, Write::Overwrite, context);
}

}  // namespace backslice
