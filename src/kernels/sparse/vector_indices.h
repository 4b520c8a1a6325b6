// Lists of indices that vectors can look at.
#pragma once

#include <optional>

#include "kernels/cpu/rows.h"
#include "kernels/sparse/index_rows.h"

namespace backslice {

// Where the row's indices lie. Precondition: at most kMostVectorAxes axes.
inline IndexPointers pointers_to(const CooIndices& indices, std::int64_t row) {
  IndexPointers pointers{};
  for (int axis = 0; axis < indices.rank(); ++axis) {
    pointers.axis[axis] = indices.column(axis).data + row * indices.column(axis).stride;
  }
  return pointers;
}

inline bool are_dense_columns(const CooIndices& indices) {
  for (int axis = 0; axis < indices.rank(); ++axis) {
    if (indices.column(axis).stride != item_size(indices.dtype())) return false;
  }
  return true;
}

// The kernels for two lists of one dtype and rank, or null where they have to be looked at row by row.
inline const IndexKernels* kernels_for(const CooIndices& a, const CooIndices& b, const RowKernels& kernels) {
  if (a.rank() < 1 || a.rank() > kMostVectorAxes) return nullptr;
  const IndexKernelTable& table = a.dtype() == DType::Int32 ? kernels.indices32 : kernels.indices64;
  if (is_packed(a) && is_packed(b)) return &table.packed[a.rank() - 1];
  if (are_dense_columns(a) && are_dense_columns(b)) return &table.columns[a.rank() - 1];
  return nullptr;
}

// The part of low <= index <= high that indices of that dtype can reach, if any.
struct AxisRange {
  std::int64_t low, high;
};
inline bool fits_dtype(DType dtype, AxisRange range) {
  using Limits = std::numeric_limits<std::int32_t>;
  return dtype == DType::Int64 || (Limits::min() <= range.low && range.high <= Limits::max());
}
inline std::optional<AxisRange> within(DType dtype, AxisRange range) {
  if (dtype == DType::Int32) {
    range.low = std::max<std::int64_t>(range.low, std::numeric_limits<std::int32_t>::min());
    range.high = std::min<std::int64_t>(range.high, std::numeric_limits<std::int32_t>::max());
  }
  return range.low <= range.high ? std::optional(range) : std::nullopt;
}

}  // namespace backslice
