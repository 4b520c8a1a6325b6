/// @file
/// CooIndices: where the entries of a sparse (COO) tensor lie, in borrowed memory.
///
/// One row per entry, one int32 or int64 column per axis. The rows may be a matrix of any strides, as in TensorFlow, or
/// one vector per axis, as in SciPy; neither is copied.
///
///     const std::int64_t at[] = {0, 2,  1, 0};                       // entries at (0, 2) and (1, 0)
///     Result<ConstView> matrix = ConstView::of(at, {2, 2});
///     if (!matrix) return matrix.status();
///     Result<CooIndices> indices = CooIndices::from_matrix(*matrix);
#pragma once

#include <cstdint>
#include <span>

#include "backslice/inline_vector.h"
#include "backslice/view.h"

namespace backslice {

class Tensor;

/// The indices of a sparse tensor, borrowed.
class BACKSLICE_EXPORT CooIndices {
 public:
  /// The indices along one axis.
  struct Column {
    const std::byte* data = nullptr;
    std::int64_t stride = 0;  ///< Bytes from one row to the next.
  };

  /// A matrix [rows, rank]. `argument` names it in messages.
  static Result<CooIndices> from_matrix(const ConstView& matrix, const char* argument = "indices");
  static Result<CooIndices> from_matrix(const Tensor&& temporary, const char* argument = "indices") = delete;

  /// One vector per column, all of one length and dtype. At least one: a rank of 0 needs a matrix [rows, 0].
  static Result<CooIndices> from_columns(std::span<const ConstView> columns, const char* argument = "indices");

  std::int64_t rows() const { return rows_; }
  int rank() const { return columns_.size(); }
  DType dtype() const { return dtype_; }  ///< Int32 or Int64.
  Device device() const { return device_; }
  const Column& column(int axis) const& BACKSLICE_LIFETIME_BOUND { return columns_[axis]; }
  Column column(int axis) const&& { return columns_[axis]; }
  bool is_columns() const { return is_columns_; }  ///< Made from columns.

  /// The column as a vector.
  ConstView column_view(int axis) const;

 private:
  CooIndices() = default;

  InlineVector<Column> columns_;
  std::int64_t rows_ = 0;
  DType dtype_ = DType::Int64;
  Device device_;
  bool is_columns_ = false;
};

}  // namespace backslice
