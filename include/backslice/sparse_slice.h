/// @file
/// Slices of sparse (COO) tensors, and the gradient of their values.
///
///     Result<SparseTensor> y = sparse_slice(indices, values, shape, start, size);      // the entries in the window
///     Result<Tensor> dvalues = sparse_slice_grad(dy, indices, start, y_indices);       // zero for entries outside it
///     Result<Tensor> dvalues = sparse_slice_grad_by_size(dy, indices, start, size);    // the same without y's indices
///
/// Values are vectors, or [entries, d1, ...]: one dense row per entry. The gradient of these gradients with respect to
/// dy is the slice of the values again.
#pragma once

#include "backslice/coo_indices.h"
#include "backslice/slice.h"
#include "backslice/tensor.h"

namespace backslice {

/// A sparse tensor in COO form that owns its entries.
struct SparseTensor {
  Tensor indices;  ///< [entries, rank]; column by column in memory where the input was given by columns.
  Tensor values;   ///< [entries, ...]
  Shape shape;
};

/// Returns the entries with start <= index < start + size on every axis, in their order, with start subtracted:
/// TensorFlow's SparseSlice. On an axis of n, the extent of the result is size if start + size < n, else the rest from
/// start on. A negative start shifts the indices up. Entries outside `shape` count if they are in the window.
BACKSLICE_EXPORT Result<SparseTensor> sparse_slice(const CooIndices& indices, const ConstView& values, Ints shape,
                                                   Ints start, Ints size, const Context& = {});

/// The same into the caller's memory: the number of entries, then the entries. Returns the shape. `out_indices` is
/// [count, rank] of the dtype of the indices, `out_values` [count, ...]; any strides. If the indices change in between,
/// and with them the count, the call returns InvalidArgument.
BACKSLICE_EXPORT Result<std::int64_t> sparse_slice_count(const CooIndices& indices, Ints start, Ints size,
                                                         const Context& = {});
BACKSLICE_EXPORT Result<Shape> sparse_slice_into(const CooIndices& indices, const ConstView& values, Ints shape,
                                                 Ints start, Ints size, const View& out_indices, const View& out_values,
                                                 const Context& = {});

/// How the rows of a slice find the rows they came from.
enum class MatchOrder {
  /// TensorFlow's rule: each row matches the next input row with its index.
  InOrder,
  /// The n-th row with an index matches the n-th input row with that index, in any order. Agrees with InOrder if that
  /// succeeds and no index is repeated. Needs extra memory in proportion to the number of rows.
  Any,
};

/// Returns the gradient of the sliced tensor's values: TensorFlow's SparseSliceGrad. `backprop_val_grad` has one row
/// per row of output_indices; input rows without a match get zero. A row that matches nothing is an Internal error, as
/// in TensorFlow.
BACKSLICE_EXPORT Result<Tensor> sparse_slice_grad(const ConstView& backprop_val_grad, const CooIndices& input_indices,
                                                  Ints input_start, const CooIndices& output_indices,
                                                  MatchOrder order = MatchOrder::InOrder, const Context& = {});
inline Result<Tensor> sparse_slice_grad(const ConstView& backprop_val_grad, const CooIndices& input_indices,
                                        Ints input_start, const CooIndices& output_indices, const Context& context) {
  return sparse_slice_grad(backprop_val_grad, input_indices, input_start, output_indices, MatchOrder::InOrder, context);
}
BACKSLICE_EXPORT Status sparse_slice_grad_into(const ConstView& backprop_val_grad, const CooIndices& input_indices,
                                               Ints input_start, const CooIndices& output_indices, const View& out,
                                               MatchOrder order = MatchOrder::InOrder, Write write = Write::Overwrite,
                                               const Context& = {});
inline Status sparse_slice_grad_into(const ConstView& backprop_val_grad, const CooIndices& input_indices,
                                     Ints input_start, const CooIndices& output_indices, const View& out,
                                     const Context& context) {
  return sparse_slice_grad_into(backprop_val_grad, input_indices, input_start, output_indices, out, MatchOrder::InOrder,
                                Write::Overwrite, context);
}

inline Status sparse_slice_grad_into(const ConstView& backprop_val_grad, const CooIndices& input_indices,
                                     Ints input_start, const CooIndices& output_indices, const View& out, Write write,
                                     const Context& context = {}) {
  return sparse_slice_grad_into(backprop_val_grad, input_indices, input_start, output_indices, out, MatchOrder::InOrder,
                                write, context);
}

/// The same from the size of the slice: `grad` has one row per entry in the window, in the order of the entries.
BACKSLICE_EXPORT Result<Tensor> sparse_slice_grad_by_size(const ConstView& grad, const CooIndices& input_indices,
                                                          Ints start, Ints size, const Context& = {});
BACKSLICE_EXPORT Status sparse_slice_grad_by_size_into(const ConstView& grad, const CooIndices& input_indices,
                                                       Ints start, Ints size, const View& out,
                                                       Write write = Write::Overwrite, const Context& = {});
inline Status sparse_slice_grad_by_size_into(const ConstView& grad, const CooIndices& input_indices, Ints start,
                                             Ints size, const View& out, const Context& context) {
  return sparse_slice_grad_by_size_into(grad, input_indices, start, size, out, Write::Overwrite, context);
}

}  // namespace backslice
