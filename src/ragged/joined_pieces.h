// The pieces of a VariantArray, one after the other in one tensor.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "backslice/ragged_variant.h"
#include "backslice/tensor.h"
#include "core/errors.h"
#include "kernels/concat/pieces.h"

namespace backslice {

// The pieces of an array, as they will be written; they may turn out to lie next to each other in one block.
class JoinedPieces {
 public:
  JoinedPieces(const VariantArray& encoded, std::int64_t item_size) : encoded_(encoded), item_size_(item_size) {
    bytes_.reserve(static_cast<std::size_t>(encoded.size()));
  }

  // Piece i comes after piece i - 1. Precondition: its size in bytes fits int64_t.
  void push(std::int64_t i, const VariantArray::Piece& piece) {
    bytes_.push_back({piece.missing ? nullptr : piece.data, piece.elements * item_size_});
    if (piece.elements == 0 || !adjacent_) return;
    if (piece.missing) {
      adjacent_ = false;
      return;
    }
    if (first_ < 0) {
      first_ = i;
    } else {
      adjacent_ = piece.data == expected_ && encoded_.buffer(i).is_same_block(encoded_.buffer(first_));
    }
    expected_ = piece.data + piece.elements * item_size_;
  }

  // As a tensor of that shape, which has room for exactly them: a view where they lie next to each other.
  Result<Tensor> join(const Shape& shape, DType dtype, const TaskRunner& runner) const {
    if (adjacent_ && first_ >= 0) {
      auto* data = const_cast<std::byte*>(bytes_[static_cast<std::size_t>(first_)].data);
      return Tensor::of(encoded_.buffer(first_), View{data, dtype, contiguous_layout(shape, item_size_)});
    }
    auto out = Tensor::make(dtype, shape, item_size_);
    if (!out.ok()) return out;
    if (dtype != DType::String) {
      write_pieces(out->view().data, bytes_, runner);
      return out;
    }
    auto to = out->elements<std::string>().begin();
    for (const PieceOfBytes& piece : bytes_) {
      const auto strings = piece.bytes / item_size_;
      if (piece.data != nullptr) std::copy_n(reinterpret_cast<const std::string*>(piece.data), strings, to);
      to += strings;
    }
    return out;
  }

 private:
  const VariantArray& encoded_;
  std::int64_t item_size_;
  std::vector<PieceOfBytes> bytes_;
  bool adjacent_ = true;
  std::int64_t first_ = -1;  // that is not empty
  const std::byte* expected_ = nullptr;
};

// The first piece that is not missing, for its dtype; of no rows of a ragged tensor, an empty one of its dtype.
inline std::optional<VariantArray::Piece> first_piece(const VariantArray& encoded) {
  if (encoded.batch() != nullptr && encoded.size() == 0) {
    const ConstView view = encoded.batch()->values().view();
    return VariantArray::Piece{nullptr, 0, false, view.dtype, view.layout.item_size};
  }
  for (std::int64_t i = 0; i < encoded.size(); ++i) {
    if (const auto piece = encoded.piece(i); !piece.missing) return piece;
  }
  return std::nullopt;
}

// What is asked for, or else what the pieces have, with the size of its items.
inline Result<ValuesType> values_type(const VariantArray& encoded, const std::optional<ValuesType>& asked) {
  const auto first = first_piece(encoded);
  if (!asked && !first) return invalid_argument("Tvalues must be given: there is no element to take it from");
  if (!asked) return ValuesType{first->dtype, first->item_size};
  if (asked->dtype != DType::Bytes) return ValuesType{asked->dtype, item_size(asked->dtype)};
  if (asked->item_size < 0) return invalid_argument("Tvalues: item_size ", asked->item_size, " must be >= 0");
  return *asked;
}

}  // namespace backslice
