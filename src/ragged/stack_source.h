// StackSource: ragged tensors one after the other, as the rows of one. UniformAxes: a source below axes of one length.
#pragma once

#include <memory>

#include "ragged/source.h"

namespace backslice {

class StackSource final : public RaggedSource {
 public:
  using Elements = std::vector<const RaggedTensor*>;

  // Stacks elements as rows, one ragged rank higher. Preconditions: there is an element; all have one ragged rank and
  // one dtype, and outlive this.
  static Result<std::unique_ptr<RaggedSource>> rows(Elements elements, DType splits_dtype);

  // Stacks dense elements of one shape into one dense tensor.
  static Result<std::unique_ptr<RaggedSource>> dense(Elements elements);

  void write_splits(int level, SplitsWriter& to) const override;
  void push_values(Joiner& to) const override;
  std::size_t segments() const override { return elements_.size(); }
  bool shares_splits(const ConstView& view) const override;

 private:
  StackSource(RaggedSize size, Elements elements) : RaggedSource(std::move(size)), elements_(std::move(elements)) {}

  Elements elements_;
};

// The axes of an array of variants but the last. They become splits of one length each, above those of its elements.
class UniformAxes final : public RaggedSource {
 public:
  static Result<std::unique_ptr<RaggedSource>> above(std::unique_ptr<RaggedSource> rows, const Shape& array);

  void write_splits(int level, SplitsWriter& to) const override;
  void push_values(Joiner& to) const override { rows_->push_values(to); }
  std::size_t segments() const override { return rows_->segments(); }
  bool shares_splits(const ConstView& view) const override { return rows_->shares_splits(view); }
  std::optional<Tensor> existing_splits(int level) const override {
    return level < axes_ ? std::nullopt : rows_->existing_splits(level - axes_);
  }

 private:
  UniformAxes(RaggedSize size, std::unique_ptr<RaggedSource> rows, const Shape& array)
      : RaggedSource(std::move(size)), rows_(std::move(rows)), array_(array), axes_(array.rank() - 1) {}

  std::unique_ptr<RaggedSource> rows_;
  Shape array_;
  int axes_;
};

// No rows, with that many levels.
class EmptySource final : public RaggedSource {
 public:
  EmptySource(int levels, DType dtype, std::int64_t item_size, DType splits_dtype, Device device)
      : RaggedSource({std::vector<std::int64_t>(static_cast<std::size_t>(levels), 1), *Shape::make({0}), dtype,
                      item_size, splits_dtype, device}) {}
  void write_splits(int, SplitsWriter&) const override {}
  void push_values(Joiner&) const override {}
  std::size_t segments() const override { return 0; }
  bool shares_splits(const ConstView&) const override { return false; }
};

}  // namespace backslice
