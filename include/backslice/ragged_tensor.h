/// @file
/// RaggedTensor: rows of different lengths, to any depth.
///
/// Values lie one after the other; row splits say where rows begin and end: row i holds the values [splits[i],
/// splits[i+1]). With more than one list of splits, each outer list counts rows of the next. Values may have inner
/// axes.
///
///     values 1 2 3 4 5, splits 0 2 2 5:     [[1, 2], [], [3, 4, 5]]
///
/// A RaggedTensor that exists is valid: it is checked once, when it is made. It shares the memory of its values and
/// owns its splits, so that nothing done to the caller's arrays afterwards can make it invalid. Values may be on a CUDA
/// device; the splits are always in the CPU's memory, and lists of splits that are given on a device are copied from
/// it, which waits for its stream.
#pragma once

#include <memory>
#include <vector>

#include "backslice/context.h"
#include "backslice/ragged_view.h"
#include "backslice/selection.h"
#include "backslice/tensor.h"

namespace backslice {

/// Values and nested row splits that fit them.
class BACKSLICE_EXPORT RaggedTensor {
 public:
  /// Splits from the outermost to the innermost, all int32 or all int64; none for a dense tensor (ragged rank 0).
  /// Splits are copied while they are checked. Values are shared, or copied where they have gaps.
  static Result<RaggedTensor> make(const Tensor& values, const std::vector<Tensor>& nested_row_splits,
                                   const Context& = {});

  /// The same with your own memory: `owner` keeps the memory of the values alive (null if you do), and it must not
  /// change any more. The memory of the splits is not needed after the call.
  static Result<RaggedTensor> make(const ConstView& values, std::shared_ptr<const void> owner,
                                   const std::vector<ConstView>& nested_row_splits, const Context& = {});

  /// Makes a ragged tensor from the lengths of rows instead of splits, outermost first. The splits have the lengths'
  /// dtype.
  static Result<RaggedTensor> from_row_lengths(const Tensor& values, const std::vector<Tensor>& nested_row_lengths,
                                               const Context& = {});

  int ragged_rank() const { return static_cast<int>(splits_.size()); }
  const Tensor& values() const& BACKSLICE_LIFETIME_BOUND { return values_; }
  Tensor values() const&& { return values_; }
  const std::vector<Tensor>& nested_row_splits() const& BACKSLICE_LIFETIME_BOUND { return splits_; }  ///< Read-only.
  std::vector<Tensor> nested_row_splits() const&& { return splits_; }
  DType dtype() const { return values_.dtype(); }
  Device device() const { return values_.device(); }  ///< Of the values.
  DType splits_dtype() const { return splits_.empty() ? DType::Int64 : splits_[0].dtype(); }

  /// How many rows the outermost axis has. Precondition: it has one (not a scalar of ragged rank 0).
  std::int64_t rows() const;

  /// splits[level][i]
  std::int64_t split(int level, std::int64_t i) const {
    const std::byte* data = splits_[static_cast<std::size_t>(level)].data();
    return splits_dtype() == DType::Int32 ? load<std::int32_t>(data, i) : load<std::int64_t>(data, i);
  }

  /// Returns the range of the values of the rows [lo, hi).
  Range values_of(Range rows) const {
    for (int level = 0; level < ragged_rank(); ++level) rows = {split(level, rows.lo), split(level, rows.hi)};
    return rows;
  }

  /// Rows [lo, hi), as a view of the same values, with splits that start at 0 again. OutOfRange unless 0 <= lo <= hi <=
  /// rows().
  Result<RaggedTensor> slice_rows(std::int64_t lo, std::int64_t hi, const Context& = {}) const;

  /// Row i: of one ragged rank less, or, of a dense tensor, of one axis less. OutOfRange unless 0 <= i < rows().
  Result<RaggedTensor> row(std::int64_t i, const Context& = {}) const;

  /// Whether dtype, rows and values are equal, bit for bit: NaN equals the same NaN, and 0.0 differs from -0.0. Splits
  /// may be int32 in one and int64 in the other. Values on a device are copied to be compared, in the order of its
  /// default stream; a std::exception is thrown if that fails.
  bool equals(const RaggedTensor& other) const;
  friend bool operator==(const RaggedTensor& a, const RaggedTensor& b) { return a.equals(b); }

 private:
  friend class RaggedParts;  // src/ragged/ragged_parts.h
  RaggedTensor(Tensor values, std::vector<Tensor> splits) : values_(std::move(values)), splits_(std::move(splits)) {}

  template <class T>
  static std::int64_t load(const std::byte* data, std::int64_t i) {
    T value;
    __builtin_memcpy(&value, data + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return value;
  }

  Tensor values_;
  std::vector<Tensor> splits_;
};

}  // namespace backslice
