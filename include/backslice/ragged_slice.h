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

#include "backslice/index.h"
#include "backslice/ragged_tensor.h"
#include "backslice/slice.h"

namespace backslice {

/// rt[index]. InvalidArgument where TensorFlow refuses the index, OutOfRange for an integer out of bounds.
BACKSLICE_EXPORT Result<RaggedTensor> ragged_slice(const RaggedTensor& rt, const Index& index, const Context& = {});

/// rt[start:stop:step] or rt[i], from the normal form of a slice of one axis of rt.rows().
BACKSLICE_EXPORT Result<RaggedTensor> ragged_slice(const RaggedTensor& rt, const Selection& rows, const Context& = {});

/// The same into memory that the caller owns: how much it takes, then the splits and values.
BACKSLICE_EXPORT Result<RaggedSize> ragged_slice_size(const RaggedTensor& rt, const Index& index, const Context& = {});
BACKSLICE_EXPORT Result<RaggedSize> ragged_slice_size(const RaggedTensor& rt, const Selection& rows,
                                                      const Context& = {});
BACKSLICE_EXPORT Status ragged_slice_into(const RaggedTensor& rt, const Index& index, const RaggedView& out,
                                          const Context& = {});
BACKSLICE_EXPORT Status ragged_slice_into(const RaggedTensor& rt, const Selection& rows, const RaggedView& out,
                                          const Context& = {});

/// The gradient of the slice's values with respect to rt's: dy where values were taken, zero elsewhere.
/// `dy` has the dtype of rt's values and the shape of the slice's.
BACKSLICE_EXPORT Result<Tensor> ragged_slice_grad(const RaggedTensor& rt, const Index& index, const ConstView& dy,
                                                  const Context& = {});
BACKSLICE_EXPORT Result<Tensor> ragged_slice_grad(const RaggedTensor& rt, const Selection& rows, const ConstView& dy,
                                                  const Context& = {});
BACKSLICE_EXPORT Status ragged_slice_grad_into(const RaggedTensor& rt, const Index& index, const ConstView& dy,
                                               const View& out, Write write = Write::Overwrite, const Context& = {});
BACKSLICE_EXPORT Status ragged_slice_grad_into(const RaggedTensor& rt, const Selection& rows, const ConstView& dy,
                                               const View& out, Write write = Write::Overwrite, const Context& = {});

}  // namespace backslice
