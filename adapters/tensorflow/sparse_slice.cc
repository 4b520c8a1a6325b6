#include <algorithm>

#include "data_types.h"
#include "reference.h"
#include "slice_kernels.h"

namespace backslice::tensorflow {
namespace {

// The checks are TensorFlow's, in its order and its words. The operations check the rest themselves.

void check_rank(const Input& input, int rank, const char* what) {
  if (input.rank() != rank) refuse("Sparse ", what, " must be rank ", rank, " but is rank ", input.rank());
}

void check_tensor(const Input& indices, const Input& values, const Input& shape) {
  check_rank(indices, 2, "indices");
  check_rank(values, 1, "values");
  check_rank(shape, 1, "shape");
  if (indices.dims()[0] != values.dims()[0])
    refuse("Number of elements in indices (", indices.dims()[0], ") and values (", values.dims()[0], ") do not match");
  if (indices.dims()[1] != shape.dims()[0])
    refuse("Index rank (", indices.dims()[1], ") and shape rank (", shape.dims()[0], ") do not match");
}

void check_vector(const Input& input, const char* name) {
  if (input.rank() != 1) refuse("Input ", name, " should be a vector but received shape ", input.dims());
}

void check_vector_length(const Input& input, const char* name, std::int64_t length) {
  if (input.dims()[0] != length)
    refuse("Expected ", name, " to be a vector of length ", length, " but got length ", input.dims()[0]);
}

void check_window(const Input& start, const Input& size, std::int64_t rank) {
  check_vector(start, "start");
  check_vector(size, "size");
  check_vector_length(start, "start", rank);
  check_vector_length(size, "size", rank);
}

void check_sparse_shape(Ints shape) {
  for (const std::int64_t extent : shape)
    if (extent < 0) refuse("Expected shape dimensions to be non-negative, got ", extent);
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) {
    const std::int64_t before = product;
    if (__builtin_mul_overflow(before, extent, &product))
      refuse("Encountered overflow when multiplying ", before, " with ", extent, ", result: -1");
  }
}

CooIndices indices_of(Input& input, const char* name) { return unwrap(CooIndices::from_matrix(input.view(), name)); }

void check_gradient(const Input& grad, const Input& input, const Input& start, const Input& output) {
  if (input.rank() != 2 || output.rank() != 2)
    refuse("Input and output indices should be matrices but received shapes: ", input.dims(), " and ", output.dims());
  if (grad.rank() != 1) refuse("Input backprop_val_grad should be a vector but received shape: ", grad.dims());
  const std::int64_t rows = output.dims()[0], rank = input.dims()[1];
  if (rank != output.dims()[1])
    refuse("The input and output should have the same ndims: got: ", rank, " and ", output.dims()[1]);
  if (rows > input.dims()[0])
    refuse("# rows of output_indices should be not greater than of input_indices, got ", rows, " and ",
           input.dims()[0]);
  if (grad.dims()[0] != rows)
    refuse("# elements of backprop_val_grad and # rows of output_indices should match (#nnz of sum): got ",
           grad.dims()[0], " and ", rows);
  if (start.rank() != 1) refuse("The input_start should be a vector but received shape ", start.dims());
  check_vector_length(start, "input_start", rank);
}

}  // namespace

void SparseSlice::compute(Call& call, bool is_fast) const {
  Input indices = call.input(0), values = call.input(1);
  const Input shape = call.input(2), start = call.input(3), size = call.input(4);
  check_tensor(indices, values, shape);
  check_window(start, size, shape.dims()[0]);
  const std::vector<std::int64_t> extents = shape.integers(), starts = start.integers(), sizes = size.integers();
  check_sparse_shape(extents);
  const CooIndices rows = indices_of(indices, "indices");
  const ConstView entries = values.view();
  const SparseTensor y = unwrap(is_fast ? sparse_slice(rows, entries, extents, starts, sizes)
                                        : reference::sparse_slice(rows, entries, extents, starts, sizes));
  call.set_output(0, kInt64, y.indices);
  call.set_output(1, values.data_type(), y.values);
  const std::int64_t rank[] = {y.shape.rank()};
  const View out = call.allocate_output(2, kInt64, unwrap(Shape::make(rank)));
  std::copy(y.shape.begin(), y.shape.end(), reinterpret_cast<std::int64_t*>(out.data));
}

void SparseSliceGrad::compute(Call& call, bool is_fast) const {
  Input grad = call.input(0), input = call.input(1), output = call.input(3);
  const Input start = call.input(2);
  check_gradient(grad, input, start, output);
  const CooIndices rows = indices_of(input, "input_indices"), taken = indices_of(output, "output_indices");
  const ConstView dy = grad.view();
  const std::vector<std::int64_t> starts = start.integers();
  call.set_output(0, grad.data_type(),
                  unwrap(is_fast ? sparse_slice_grad(dy, rows, starts, taken)
                                 : reference::sparse_slice_grad(dy, rows, starts, taken)));
}

}  // namespace backslice::tensorflow
