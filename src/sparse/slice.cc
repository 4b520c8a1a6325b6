// SparseSlice: the window of a COO tensor.
#include "backslice/sparse_slice.h"

#include <limits>

#include "core/errors.h"
#include "kernels/sparse/kernel.h"
#include "ops/call.h"
#include "ops/checks.h"
#include "sparse/checks.h"
#include "sparse/parts.h"

namespace backslice {
namespace {

// On an axis of n: size where start + size < n, else what is left from start on.
Result<Shape> result_shape(const Shape& shape, Ints start, Ints size) {
  Dims dims;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    std::int64_t end;
    const bool past_int64 = __builtin_add_overflow(start[i], size[i], &end);  // upwards: size is not negative
    if (!past_int64 && end < shape[axis]) {
      dims.push_back(size[i]);
    } else {
      dims.push_back(start[i] < shape[axis] ? shape[axis] - start[i] : 0);
    }
  }
  return Shape::make(dims, "the result's shape");
}

// Indices of the result are below size; with a negative start they may be larger than those of the input.
Status check_indices_fit(const CooIndices& indices, Ints start, Ints size) {
  if (indices.dtype() == DType::Int64) return Status();
  for (std::size_t axis = 0; axis < start.size(); ++axis) {
    if (start[axis] < 0 && size[axis] - 1 > std::numeric_limits<std::int32_t>::max()) {
      return invalid_argument("start[", axis, "] is ", start[axis], " and size[", axis, "] is ", size[axis],
                              ": indices of the result may not fit int32; give int64 indices");
    }
  }
  return Status();
}

// [rows, rank], the columns one after the other where the input's are.
Result<Tensor> make_indices(const CooIndices& like, std::int64_t rows, const Call& call) {
  if (!like.is_columns()) return call.allocate(like.dtype(), *Shape::make({rows, like.rank()}), 0);
  auto columns = call.allocate(like.dtype(), *Shape::make({like.rank(), rows}), 0);
  if (!columns.ok()) return columns;
  View view = columns->view();
  const std::int64_t item = view.layout.item_size;
  view.layout = *make_strided_layout(like.dtype(), {rows, like.rank()}, {item, rows * item}, item);
  return Tensor::of(columns->buffer(), view);
}

}  // namespace

Result<SparseTensor> sparse_slice(const CooIndices& indices, const ConstView& values, Ints shape, Ints start, Ints size,
                                  const Context& context) {
  return without_throwing([&]() -> Result<SparseTensor> {
    BACKSLICE_RETURN_IF_ERROR(check_rows(values, "values"));
    BACKSLICE_RETURN_IF_ERROR(check_input(values, "values"));
    if (indices.rows() != values.shape()[0]) {
      return invalid_argument("Number of elements in indices (", indices.rows(), ") and values (", values.shape()[0],
                              ") do not match");
    }
    const auto dense_shape = Shape::make(shape);
    if (!dense_shape.ok()) return dense_shape.status();
    if (indices.rank() != dense_shape->rank()) {
      return invalid_argument("indices has ", indices.rank(), " columns, but shape ", shape, " has ",
                              dense_shape->rank(), " axes");
    }
    BACKSLICE_RETURN_IF_ERROR(check_length(start, "start", indices.rank(), "columns of indices"));
    BACKSLICE_RETURN_IF_ERROR(check_size(size, indices.rank()));
    BACKSLICE_RETURN_IF_ERROR(check_indices_fit(indices, start, size));
    auto result = result_shape(*dense_shape, start, size);
    if (!result.ok()) return result.status();

    const Call call(context);
    const auto matcher = match_window(indices, start, size);
    SparseParts parts = cut_rows(indices.rows(), row_bytes(indices, values), call.threads());
    count_parts(*matcher, parts, call.tasks);
    const std::int64_t found = parts.back().end;

    Dims values_shape(values.shape());
    values_shape[0] = found;
    auto out_indices = make_indices(indices, found, call);
    if (!out_indices.ok()) return out_indices.status();
    auto out_values = call.allocate(values.dtype, *Shape::make(values_shape), values.layout.item_size);
    if (!out_values.ok()) return out_values.status();
    run_parts(parts, call.tasks, [&](SparsePart& part) {
      write_slice(*matcher, part.rows, part.slice_rows(), indices, start, values, out_indices->view(),
                  out_values->view());
    });
    return SparseTensor{*std::move(out_indices), *std::move(out_values), *result};
  });
}

}  // namespace backslice
