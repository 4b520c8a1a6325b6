/// @file
/// Many slices of one tensor, in one pass over it: the sum of their gradients, or one written after the other.
///
///     dx = 0;  for each (selection, dy) in the list:  dx[selection] += dy     multi_slice_grad
///     dx = 0;  for each (selection, dy) in the list:  dx[selection] = dy      multi_slice_write
///
/// but each byte of dx is written once and each dy read once, however many slices there are. Where slices overlap, the
/// first contribution to an element is copied and later ones are added, in the order of the list, so that the result
/// does not depend on the number of threads. bool, quantised types, strings and bytes cannot be added: their slices
/// must not overlap. Writes take every dtype: where slices overlap, the last one in the list wins. A tensor to write
/// over is the first of the list, with Selection::all(shape).
#pragma once

#include <span>

#include "backslice/slice.h"
#include "backslice/slice_gradient.h"

namespace backslice {

/// At least one slice is needed, because it determines the dtype.
BACKSLICE_EXPORT Result<Tensor> multi_slice_grad(Ints shape, std::span<const SliceGradient> slices,
                                                 const Context& = {});
BACKSLICE_EXPORT Status multi_slice_grad_into(Ints shape, std::span<const SliceGradient> slices, const View& out,
                                              Write write = Write::Overwrite, const Context& = {});
inline Status multi_slice_grad_into(Ints shape, std::span<const SliceGradient> slices, const View& out,
                                    const Context& context) {
  return multi_slice_grad_into(shape, slices, out, Write::Overwrite, context);
}

/// The slices written in the order of the list, and zeros elsewhere. At least one is needed.
BACKSLICE_EXPORT Result<Tensor> multi_slice_write(Ints shape, std::span<const SliceGradient> slices,
                                                  const Context& = {});
BACKSLICE_EXPORT Status multi_slice_write_into(Ints shape, std::span<const SliceGradient> slices, const View& out,
                                               const Context& = {});

/// Returns an upper bound of the bytes that multi_slice_grad_into or multi_slice_write_into holds of its allocator at
/// any time, on a CUDA device. For callers that must provide that memory ahead. One slice, through slice_grad_into,
/// needs none.
BACKSLICE_EXPORT Result<std::int64_t> multi_slice_grad_scratch(std::int64_t slices, int rank);

}  // namespace backslice
