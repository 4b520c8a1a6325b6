/// @file
/// Slices of ragged tensors, as TensorFlow indexes them, and their gradients.
///
/// Rows are taken by an integer or a slice. A ragged axis is sliced inside every row. An integer takes one row, and the
/// items after it index that row; after a slice, a ragged axis cannot take an integer, since not every row may have
/// such an item. The axes of the values after the first are uniform, and are indexed as those of any array.
///
///     rt = [[1, 2], [], [3, 4, 5]]
///     rt[::2]       [[1, 2], [3, 4, 5]]
///     rt[:, 1:]     [[2], [], [4, 5]]
///     rt[2, 1:]     [4, 5]     of ragged rank 0: a dense tensor, values()
///
/// A new axis after a slice of rows puts each row into a row of its own, a new first axis puts all rows into one. New
/// axes among the ragged ones are ragged, too. Values are shared with rt where they lie one after the other.
#pragma once

#include <concepts>

#include "backslice/index.h"
#include "backslice/ragged_tensor.h"
#include "backslice/slice.h"

namespace backslice {

/// The index of a ragged tensor: an Index, or a Selection of its rows.
template <class T>
concept RaggedIndex = std::same_as<T, Index> || std::same_as<T, Selection>;

/// Returns rt[index]. InvalidArgument if TensorFlow refuses the index, OutOfRange for an integer out of bounds.
BACKSLICE_EXPORT Result<RaggedTensor> ragged_slice(const Index& index, const RaggedTensor& rt, const Context& = {});

/// rt[start:stop:step] or rt[i], from the normal form of a slice of one axis of rt.rows().
BACKSLICE_EXPORT Result<RaggedTensor> ragged_slice(const Selection& rows, const RaggedTensor& rt, const Context& = {});

/// The same into the caller's memory: its size, then the splits and values.
BACKSLICE_EXPORT Result<RaggedSize> ragged_slice_size(const Index& index, const RaggedTensor& rt, const Context& = {});
BACKSLICE_EXPORT Result<RaggedSize> ragged_slice_size(const Selection& rows, const RaggedTensor& rt,
                                                      const Context& = {});
BACKSLICE_EXPORT Status ragged_slice_into(const Index& index, const RaggedTensor& rt, const RaggedView& out,
                                          const Context& = {});
BACKSLICE_EXPORT Status ragged_slice_into(const Selection& rows, const RaggedTensor& rt, const RaggedView& out,
                                          const Context& = {});

/// Returns the gradient of the slice's values with respect to rt's: dy at the selected values, zero elsewhere. `dy` has
/// the dtype of rt's values and the shape of the slice's.
BACKSLICE_EXPORT Result<Tensor> ragged_slice_grad(const Index& index, const RaggedTensor& rt, const ConstView& dy,
                                                  const Context& = {});
BACKSLICE_EXPORT Result<Tensor> ragged_slice_grad(const Selection& rows, const RaggedTensor& rt, const ConstView& dy,
                                                  const Context& = {});
BACKSLICE_EXPORT Status ragged_slice_grad_into(const Index& index, const RaggedTensor& rt, const ConstView& dy,
                                               const View& out, Write write = Write::Overwrite, const Context& = {});
BACKSLICE_EXPORT Status ragged_slice_grad_into(const Selection& rows, const RaggedTensor& rt, const ConstView& dy,
                                               const View& out, Write write = Write::Overwrite, const Context& = {});
template <RaggedIndex Any = Index>
Status ragged_slice_grad_into(const Any& index, const RaggedTensor& rt, const ConstView& dy, const View& out,
                              const Context& context) {
  return ragged_slice_grad_into(index, rt, dy, out, Write::Overwrite, context);
}

/// The order of arguments before 0.3.
template <RaggedIndex Any = Index>
[[deprecated("use ragged_slice(index, rt); removed in 0.5")]]
Result<RaggedTensor> ragged_slice(const RaggedTensor& rt, const Any& index, const Context& context = {}) {
  return ragged_slice(index, rt, context);
}
template <RaggedIndex Any = Index>
[[deprecated("use ragged_slice_size(index, rt); removed in 0.5")]]
Result<RaggedSize> ragged_slice_size(const RaggedTensor& rt, const Any& index, const Context& context = {}) {
  return ragged_slice_size(index, rt, context);
}
template <RaggedIndex Any = Index>
[[deprecated("use ragged_slice_into(index, rt, out); removed in 0.5")]]
Status ragged_slice_into(const RaggedTensor& rt, const Any& index, const RaggedView& out, const Context& context = {}) {
  return ragged_slice_into(index, rt, out, context);
}
template <RaggedIndex Any = Index>
[[deprecated("use ragged_slice_grad(index, rt, dy); removed in 0.5")]]
Result<Tensor> ragged_slice_grad(const RaggedTensor& rt, const Any& index, const ConstView& dy,
                                 const Context& context = {}) {
  return ragged_slice_grad(index, rt, dy, context);
}
template <RaggedIndex Any = Index>
[[deprecated("use ragged_slice_grad_into(index, rt, dy, out); removed in 0.5")]]
Status ragged_slice_grad_into(const RaggedTensor& rt, const Any& index, const ConstView& dy, const View& out,
                              Write write = Write::Overwrite, const Context& context = {}) {
  return ragged_slice_grad_into(index, rt, dy, out, write, context);
}

}  // namespace backslice
