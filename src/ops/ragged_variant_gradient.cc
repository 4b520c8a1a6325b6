// The gradient of a ragged tensor that was encoded row by row: sizes first, then the pieces one after the other.
#include <algorithm>

#include "backslice/ragged_variant.h"
#include "core/errors.h"
#include "ops/checks.h"
#include "ops/joined_pieces.h"

namespace backslice {
namespace {

// The splits of what was encoded, as far as they are known.
class KnownSplits {
 public:
  static Result<KnownSplits> make(const std::vector<Tensor>& given, std::int64_t pieces, const Shape& shape,
                                  bool any_missing) {
    if (given.empty()) return invalid_argument("row_splits: at least one list is needed");
    KnownSplits known;
    if (given.size() == 1 && given[0].shape().rank() == 0) {
      if (any_missing) {
        return invalid_argument("row_splits is a scalar, but a piece is missing: its size must come from the splits");
      }
      return known;
    }
    // Checked as those of a ragged tensor are, with as many values as the last list says.
    std::int64_t values = 0;
    const Tensor& last = given.back();
    if (last.shape().rank() == 1 && last.shape()[0] > 0 &&
        (last.dtype() == DType::Int32 || last.dtype() == DType::Int64)) {
      auto end = slice(*Selection::from_index(last.shape(), {SliceRange{-1, {}, {}}}), last.view());
      if (!end.ok()) return end.status();
      values = last.dtype() == DType::Int32 ? end->elements<std::int32_t>()[0] : end->elements<std::int64_t>()[0];
    }
    auto nothing = Tensor::make(DType::Bytes, *Shape::make({std::max<std::int64_t>(values, 0)}), 0);
    if (!nothing.ok()) return nothing.status();
    auto splits = RaggedTensor::make(*nothing, given);
    if (!splits.ok()) {
      return Status(splits.status().code(), "row_splits: " + splits.status().message());
    }
    known.splits_ = *std::move(splits);
    if (known.splits_->rows() < pieces) {
      return invalid_argument("row_splits is for ", known.splits_->rows(), " rows, but there are ", pieces, " pieces");
    }
    if (given.size() > 1 && (shape.rank() == 0 || values != shape[0])) {
      return invalid_argument("the innermost of row_splits ends at ", values, ", but dense_values_shape is ",
                              Ints(shape));
    }
    return known;
  }

  // How many values piece i has, along the first axis.
  std::int64_t values_of(std::int64_t i) const {
    const auto [lo, hi] = splits_->values_of({i, i + 1});
    return hi - lo;
  }

 private:
  std::optional<RaggedTensor> splits_;
};

}  // namespace

Result<Tensor> ragged_tensor_to_variant_gradient(const VariantArray& encoded, const std::vector<Tensor>& row_splits,
                                                 Ints dense_values_shape, std::optional<DType> Tvalues,
                                                 const Options& options) {
  return without_throwing([&]() -> Result<Tensor> {
    BACKSLICE_RETURN_IF_ERROR(check_makes_result(options));
    const auto shape = Shape::make(dense_values_shape, "dense_values_shape");
    if (!shape.ok()) return shape.status();
    const auto first = first_piece(encoded);
    if (!first && !Tvalues) return invalid_argument("Tvalues must be given: there is no piece to take it from");
    const DType dtype = Tvalues ? *Tvalues : first->dtype;
    const std::int64_t item = first && first->dtype == dtype ? first->item_size : item_size(dtype);

    // Sizes first: every piece, then their total.
    std::int64_t inner = 1;
    for (int axis = 1; axis < shape->rank(); ++axis) inner *= (*shape)[axis];
    const auto splits = KnownSplits::make(row_splits, encoded.size(), *shape, encoded.has_missing());
    if (!splits.ok()) return splits.status();
    if (encoded.has_missing() && shape->rank() == 0) {
      return invalid_argument("dense_values_shape is [], which has no rows for the pieces that are missing");
    }
    if (const RaggedTensor* batch = encoded.batch()) {
      // The rows of one ragged tensor: what holds for all of them is looked at once.
      if (batch->dtype() != dtype) {
        return dtype_error("piece 0 has dtype ", name(batch->dtype()), ", expected ", name(dtype));
      }
      const ConstView view = batch->values().view();
      if (view.elements() != shape->elements()) {
        return invalid_argument("the ", encoded.size(), " pieces have ", view.elements(), " elements in all, but ",
                                "dense_values_shape ", dense_values_shape, " has ", shape->elements());
      }
      return Tensor::of(batch->values().buffer(),
                        View{const_cast<std::byte*>(view.data), dtype, contiguous_layout(*shape, item)});
    }
    std::int64_t total = 0;
    JoinedPieces pieces(encoded, item);
    for (std::int64_t i = 0; i < encoded.size(); ++i) {
      VariantArray::Piece piece = encoded.piece(i);
      if (piece.missing && __builtin_mul_overflow(splits->values_of(i), inner, &piece.elements)) {
        return invalid_argument("piece ", i, " is missing, and its ", splits->values_of(i), " rows of ", inner,
                                " elements are more than 2**63 - 1");
      }
      if (!piece.missing && (piece.dtype != dtype || piece.item_size != item)) {
        return dtype_error("piece ", i, " has dtype ", name(piece.dtype), ", expected ", name(dtype));
      }
      if (piece.missing && piece.elements > 0 && !has_zero(dtype)) {
        return dtype_error(name(dtype), " has no zero, and piece ", i, " is missing");
      }
      if (__builtin_add_overflow(total, piece.elements, &total) || total > shape->elements()) {
        return invalid_argument("piece ", i, " of ", piece.elements, " elements does not fit: dense_values_shape ",
                                dense_values_shape, " has ", shape->elements(), ", of which ", total - piece.elements,
                                " are taken by the pieces before it");
      }
      pieces.push(i, piece);
    }
    if (total != shape->elements()) {
      return invalid_argument("the ", encoded.size(), " pieces have ", total,
                              " elements in all, but dense_values_shape ", dense_values_shape, " has ",
                              shape->elements());
    }
    return pieces.join(*shape, dtype, runner_of(options));
  });
}

}  // namespace backslice
