#include <algorithm>

#include "data_types.h"
#include "reference.h"
#include "slice_kernels.h"

namespace backslice::tensorflow {
namespace {

// The checks are TensorFlow's, in its order and its words. The operations check the rest themselves.

Status check_rank(const Input& input, int rank, const char* what) {
  if (input.rank() == rank) return {};
  return invalid_argument("Sparse ", what, " must be rank ", rank, " but is rank ", input.rank());
}

Status check_tensor(const Input& indices, const Input& values, const Input& shape) {
  if (Status s = check_rank(indices, 2, "indices"); !s.ok()) return s;
  if (Status s = check_rank(values, 1, "values"); !s.ok()) return s;
  if (Status s = check_rank(shape, 1, "shape"); !s.ok()) return s;
  if (indices.dims()[0] != values.dims()[0])
    return invalid_argument("Number of elements in indices (", indices.dims()[0], ") and values (", values.dims()[0],
                            ") do not match");
  if (indices.dims()[1] != shape.dims()[0])
    return invalid_argument("Index rank (", indices.dims()[1], ") and shape rank (", shape.dims()[0], ") do not match");
  return {};
}

Status check_vector(const Input& input, const char* name) {
  if (input.rank() == 1) return {};
  return invalid_argument("Input ", name, " should be a vector but received shape ", input.dims());
}

Status check_vector_length(const Input& input, const char* name, std::int64_t length) {
  if (input.dims()[0] == length) return {};
  return invalid_argument("Expected ", name, " to be a vector of length ", length, " but got length ", input.dims()[0]);
}

Status check_window(const Input& start, const Input& size, std::int64_t rank) {
  if (Status s = check_vector(start, "start"); !s.ok()) return s;
  if (Status s = check_vector(size, "size"); !s.ok()) return s;
  if (Status s = check_vector_length(start, "start", rank); !s.ok()) return s;
  return check_vector_length(size, "size", rank);
}

Status check_sparse_shape(Ints shape) {
  for (const std::int64_t extent : shape)
    if (extent < 0) return invalid_argument("Expected shape dimensions to be non-negative, got ", extent);
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) {
    const std::int64_t before = product;
    if (__builtin_mul_overflow(before, extent, &product))
      return invalid_argument("Encountered overflow when multiplying ", before, " with ", extent, ", result: -1");
  }
  return {};
}

Result<CooIndices> indices_of(Input& input, const char* name) {
  return input.view().and_then([&](const ConstView& matrix) { return CooIndices::from_matrix(matrix, name); });
}

Status set_shape_output(Call& call, int index, const Shape& shape) {
  const std::int64_t rank[] = {shape.rank()};
  const Result<View> out = call.allocate_output(index, kInt64, Shape::make(rank).value());
  if (!out) return out.status();
  std::copy(shape.begin(), shape.end(), reinterpret_cast<std::int64_t*>(out->data));
  return {};
}

Status check_gradient(const Input& grad, const Input& input, const Input& start, const Input& output) {
  if (input.rank() != 2 || output.rank() != 2)
    return invalid_argument("Input and output indices should be matrices but received shapes: ", input.dims(), " and ",
                            output.dims());
  if (grad.rank() != 1)
    return invalid_argument("Input backprop_val_grad should be a vector but received shape: ", grad.dims());
  const std::int64_t rows = output.dims()[0], rank = input.dims()[1];
  if (rank != output.dims()[1])
    return invalid_argument("The input and output should have the same ndims: got: ", rank, " and ", output.dims()[1]);
  if (rows > input.dims()[0])
    return invalid_argument("# rows of output_indices should be not greater than of input_indices, got ", rows, " and ",
                            input.dims()[0]);
  if (grad.dims()[0] != rows)
    return invalid_argument(
        "# elements of backprop_val_grad and # rows of output_indices should match (#nnz of sum): got ", grad.dims()[0],
        " and ", rows);
  if (start.rank() != 1)
    return invalid_argument("The input_start should be a vector but received shape ", start.dims());
  return check_vector_length(start, "input_start", rank);
}

}  // namespace

Status SparseSlice::compute(Call& call, bool is_fast) const {
  Input indices = call.input(0), values = call.input(1);
  const Input shape = call.input(2), start = call.input(3), size = call.input(4);
  if (Status s = check_tensor(indices, values, shape); !s.ok()) return s;
  if (Status s = check_window(start, size, shape.dims()[0]); !s.ok()) return s;
  const std::vector<std::int64_t> extents = shape.integers();
  if (Status s = check_sparse_shape(extents); !s.ok()) return s;
  const Result<CooIndices> coo = indices_of(indices, "indices");
  if (!coo) return coo.status();
  const Result<ConstView> entries = values.view();
  if (!entries) return entries.status();
  const std::vector<std::int64_t> starts = start.integers(), sizes = size.integers();
  const Result<SparseTensor> y = is_fast ? sparse_slice(*coo, *entries, extents, starts, sizes)
                                         : reference::sparse_slice(*coo, *entries, extents, starts, sizes);
  if (!y) return y.status();
  if (Status s = call.set_output(0, kInt64, y->indices); !s.ok()) return s;
  if (Status s = call.set_output(1, values.data_type(), y->values); !s.ok()) return s;
  return set_shape_output(call, 2, y->shape);
}

Status SparseSliceGrad::compute(Call& call, bool is_fast) const {
  Input grad = call.input(0), input = call.input(1), output = call.input(3);
  const Input start = call.input(2);
  if (Status s = check_gradient(grad, input, start, output); !s.ok()) return s;
  const Result<CooIndices> rows = indices_of(input, "input_indices"), taken = indices_of(output, "output_indices");
  if (!rows) return rows.status();
  if (!taken) return taken.status();
  const Result<ConstView> dy = grad.view();
  if (!dy) return dy.status();
  const std::vector<std::int64_t> starts = start.integers();
  return call.set_output(0, grad.data_type(),
                         is_fast ? sparse_slice_grad(*dy, *rows, starts, *taken)
                                 : reference::sparse_slice_grad(*dy, *rows, starts, *taken));
}

}  // namespace backslice::tensorflow
