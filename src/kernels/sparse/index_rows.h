// The rows of CooIndices with compile-time types: int32 or int64, and the common ranks.
#pragma once

#include <cstring>
#include <optional>

#include "backslice/coo_indices.h"
#include "core/per_axis.h"
#include "kernels/cpu/rows.h"

namespace backslice {

inline constexpr int kAnyRank = -1;

// kPacked: rows are adjacent, and the columns of a row too, as in a fresh matrix.
template <class Index, int kRank, bool kPacked>
class IndexRows {
 public:
  explicit IndexRows(const CooIndices& indices) : rank_(indices.rank()) {
    for (int axis = 0; axis < rank(); ++axis) columns_[axis] = indices.column(axis);
  }

  int rank() const { return kRank == kAnyRank ? rank_ : kRank; }

  std::int64_t at(std::int64_t row, int axis) const {
    Index index;
    if constexpr (kPacked) {
      std::memcpy(&index, columns_[0].data + (row * rank() + axis) * kSize, sizeof(Index));
    } else {
      std::memcpy(&index, columns_[axis].data + row * columns_[axis].stride, sizeof(Index));
    }
    return index;
  }

 private:
  static constexpr auto kSize = static_cast<std::int64_t>(sizeof(Index));
  static constexpr int kRoom = kRank == kAnyRank ? kMaxRank : kRank;
  PerAxis<CooIndices::Column, kRoom> columns_;
  int rank_;
};

inline bool is_packed(const CooIndices& indices) {
  if (indices.rows() == 0) return true;  // there may be no memory
  const std::int64_t size = item_size(indices.dtype());
  for (int axis = 0; axis < indices.rank(); ++axis) {
    const CooIndices::Column& column = indices.column(axis);
    if (column.data != indices.column(0).data + axis * size || column.stride != indices.rank() * size) return false;
  }
  return true;
}

// Calls visitor.operator()<IndexRows<...>>() with the type of both lists, which have one dtype and rank.
template <class Visitor>
auto visit_rows(const CooIndices& a, const CooIndices& b, Visitor&& visitor) {
  const bool packed = is_packed(a) && is_packed(b);
  const auto with_rank = [&]<class Index, int kRank>() {
    return packed ? visitor.template operator()<IndexRows<Index, kRank, true>>()
                  : visitor.template operator()<IndexRows<Index, kRank, false>>();
  };
  const auto with_index = [&]<class Index>() {
    switch (a.rank()) {
      case 1: return with_rank.template operator()<Index, 1>();
      case 2: return with_rank.template operator()<Index, 2>();
      case 3: return with_rank.template operator()<Index, 3>();
      case 4: return with_rank.template operator()<Index, 4>();
      default: return with_rank.template operator()<Index, kAnyRank>();
    }
  };
  return a.dtype() == DType::Int32 ? with_index.template operator()<std::int32_t>()
                                   : with_index.template operator()<std::int64_t>();
}

// -- Lists of indices for vectors

// The addresses of the row's indices. Precondition: at most kMostVectorAxes axes.
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

// Returns the kernels for two lists of one dtype and rank, or null if they must be read row by row.
inline const IndexKernels* kernels_for(const CooIndices& a, const CooIndices& b, const RowKernels& kernels) {
  if (a.rank() < 1 || a.rank() > kMostVectorAxes) return nullptr;
  const IndexKernelTable& table = a.dtype() == DType::Int32 ? kernels.indices32 : kernels.indices64;
  if (is_packed(a) && is_packed(b)) return &table.packed[a.rank() - 1];
  if (are_dense_columns(a) && are_dense_columns(b)) return &table.columns[a.rank() - 1];
  return nullptr;
}

// Returns the part of low <= index <= high that the dtype of the indices can represent, if any.
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
