/// @file
/// VariantArray: ragged tensors as the elements of an array, or nothing in their place.
///
/// What RaggedTensorToVariant returns, and what gradients of it are given as. A batch of rows is kept as the ragged
/// tensor it came from: making it costs nothing per row. Other elements are kept in a flat list.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "backslice/ragged_tensor.h"

namespace backslice {

/// An array of ragged tensors, some of which may be missing.
class BACKSLICE_EXPORT VariantArray {
 public:
  /// Elements in row-major order, std::nullopt for missing ones; as many as the shape has.
  static Result<VariantArray> make(std::vector<std::optional<RaggedTensor>> elements, Ints shape);

  /// The rows of a ragged tensor, one element each. Precondition: it has rows.
  static VariantArray rows_of(RaggedTensor batch);

  const Shape& shape() const& BACKSLICE_LIFETIME_BOUND { return shape_; }
  Shape shape() const&& { return shape_; }
  std::int64_t size() const { return shape_.elements(); }
  /// Returns the same elements, shared, in another shape with the same number of elements.
  Result<VariantArray> reshape(Ints shape) const;

  /// An element, or std::nullopt for a missing one. OutOfRange unless 0 <= i < size().
  Result<std::optional<RaggedTensor>> at(std::int64_t i, const Context& = {}) const;

  /// The same into the caller's memory: its size, then its splits and values. A missing element is InvalidArgument.
  Result<RaggedSize> element_size(std::int64_t i, const Context& = {}) const;
  Status element_into(std::int64_t i, const RaggedView& out, const Context& = {}) const;

  /// The same for elements that are stored one by one: null for a missing one. Precondition: batch() is null.
  const RaggedTensor* listed(std::int64_t i) const& BACKSLICE_LIFETIME_BOUND;
  void listed(std::int64_t i) const&& = delete;

  bool has_missing() const { return has_missing_; }

  /// The values of an element, looked at without making it.
  struct Piece {
    const std::byte* data = nullptr;
    std::int64_t elements = 0;
    bool missing = true;
    DType dtype = DType::Float32;
    std::int64_t item_size = 0;
    Device device = {};
  };
  Piece piece(std::int64_t i) const& BACKSLICE_LIFETIME_BOUND;
  void piece(std::int64_t i) const&& = delete;

  /// Returns the ragged tensor whose rows these are, if they are all rows of one.
  const RaggedTensor* batch() const& BACKSLICE_LIFETIME_BOUND { return std::get_if<RaggedTensor>(&elements_); }
  void batch() const&& = delete;

  /// The block that holds an element's values. Precondition: it is not missing.
  const Buffer& buffer(std::int64_t i) const& BACKSLICE_LIFETIME_BOUND;
  Buffer buffer(std::int64_t i) const&& { return buffer(i); }

 private:
  // Elements one by one; pieces_ and buffers_ are what most operations need of them, close together.
  struct List {
    bool has_missing = false;
    std::vector<Piece> pieces;
    std::vector<Buffer> buffers;
    std::vector<std::optional<RaggedTensor>> elements;
  };

  friend class VariantParts;  // src/ragged/ragged_parts.h

  // Precondition: as many elements.
  VariantArray reshaped(const Shape& shape) const { return VariantArray(shape, elements_); }

  VariantArray(Shape shape, std::variant<RaggedTensor, List> elements)
      : shape_(std::move(shape)), elements_(std::move(elements)) {
    if (const List* list = std::get_if<List>(&elements_)) has_missing_ = list->has_missing;
  }

  Shape shape_;
  std::variant<RaggedTensor, List> elements_;
  bool has_missing_ = false;
};

}  // namespace backslice
