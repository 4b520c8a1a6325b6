#include "backslice/coo_indices.h"

#include "core/device.h"
#include "core/errors.h"

namespace backslice {
namespace {

Status check_dtype(DType dtype, const std::string& what) {
  if (dtype == DType::Int32 || dtype == DType::Int64) return Status();
  return dtype_error(what, " has dtype ", name(dtype), ", expected int64 or int32").at(what);
}

Status check_memory(const ConstView& view, const std::string& what) {
  if (view.elements() == 0 || view.data != nullptr) return Status();
  return invalid_argument(what, " has shape ", Ints(view.shape()), " but its data is null").at(what);
}

}  // namespace

Result<CooIndices> CooIndices::from_matrix(const ConstView& matrix, const char* argument) {
  return without_throwing([&]() -> Result<CooIndices> {
    const Shape& shape = matrix.shape();
    if (shape.rank() != 2) {
      return invalid_argument(argument, " must be a matrix with one row per entry, got shape ", Ints(shape))
          .at(argument);
    }
    BACKSLICE_RETURN_IF_ERROR(check_dtype(matrix.dtype, argument));
    BACKSLICE_RETURN_IF_ERROR(check_memory(matrix, argument));
    if (shape[1] > kMaxRank) {
      return invalid_argument(argument, " has ", counted(shape[1], "column", "columns"), "; at most ", kMaxRank,
                              " are supported")
          .at(argument);
    }
    CooIndices indices;
    indices.rows_ = shape[0];
    indices.dtype_ = matrix.dtype;
    indices.device_ = matrix.device;
    for (std::int64_t axis = 0; axis < shape[1]; ++axis) {
      const std::byte* data = shape[0] == 0 ? matrix.data : matrix.data + axis * matrix.layout.strides[1];
      indices.columns_.push_back({data, matrix.layout.strides[0]});
    }
    return indices;
  });
}

Result<CooIndices> CooIndices::from_columns(std::span<const ConstView> columns, const char* argument) {
  return without_throwing([&]() -> Result<CooIndices> {
    if (columns.empty() || columns.size() > kMaxRank) {
      return invalid_argument(argument, " has ", counted(columns.size(), "column", "columns"), "; from 1 to ", kMaxRank,
                              " are supported (for none, give a matrix of shape [entries,0])")
          .at(argument);
    }
    CooIndices indices;
    indices.is_columns_ = true;
    indices.dtype_ = columns[0].dtype;
    indices.device_ = columns[0].device;
    for (const ConstView& column : columns) {
      const std::string what = join(argument, "[", indices.rank(), "]");
      if (column.shape().rank() != 1) {
        return invalid_argument(what, " must be a vector with one item per entry, got shape ", Ints(column.shape()))
            .at(what);
      }
      BACKSLICE_RETURN_IF_ERROR(check_dtype(column.dtype, what));
      if (column.dtype != columns[0].dtype) {
        return dtype_error(what, " has dtype ", name(column.dtype), ", but ", argument, "[0] has ",
                           name(columns[0].dtype))
            .at(what);
      }
      if (column.shape()[0] != columns[0].shape()[0]) {
        return invalid_argument(what, " has ", counted(column.shape()[0], "item", "items"), ", but ", argument,
                                "[0] has ", columns[0].shape()[0])
            .at(what);
      }
      BACKSLICE_RETURN_IF_ERROR(check_same_device(column.device, what, columns[0].device, join(argument, "[0]")));
      BACKSLICE_RETURN_IF_ERROR(check_memory(column, what));
      indices.columns_.push_back({column.data, column.layout.strides[0]});
    }
    indices.rows_ = columns[0].shape()[0];
    return indices;
  });
}

ConstView CooIndices::column_view(int axis) const {
  const Column& column = columns_[axis];
  return *ConstView::strided(column.data, dtype_, {rows_}, {column.stride}, 0, device_);
}

}  // namespace backslice
