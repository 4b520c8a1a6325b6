// Plain versions of the operations: one loop over the elements, on one thread. They run while the fast ones are
// switched off. Arguments that the library refuses get the library's error.
#pragma once

#include "backslice/slice.h"
#include "backslice/sparse_slice.h"

namespace backslice::tensorflow::reference {

Result<Tensor> slice(const Selection& selection, const ConstView& x);
Result<Tensor> strided_slice_grad(Ints shape, const TfSlice& spec, const ConstView& dy);

/// Preconditions: indices are int64, values are vectors.
Result<SparseTensor> sparse_slice(const CooIndices& indices, const ConstView& values, Ints shape, Ints start,
                                  Ints size);
Result<Tensor> sparse_slice_grad(const ConstView& grad, const CooIndices& input, Ints start, const CooIndices& output);

}  // namespace backslice::tensorflow::reference
