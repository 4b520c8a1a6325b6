// RaggedSource: a ragged tensor that is still to be written. How large it is, then its lists of splits and its values,
// into new memory or into the caller's.
#pragma once

#include <optional>

#include "backslice/ragged_tensor.h"
#include "ops/joiner.h"
#include "ragged/splits_writer.h"

namespace backslice {

class RaggedSource {
 public:
  RaggedSource() = default;  // of a size that is still to be set
  explicit RaggedSource(RaggedSize size) : size_(std::move(size)) {}
  virtual ~RaggedSource() = default;

  const RaggedSize& size() const { return size_; }
  int levels() const { return static_cast<int>(size_.splits.size()); }

  // All splits of a level but the first.
  virtual void write_splits(int level, SplitsWriter& to) const = 0;

  // The values, as parts that live as long as what the source was made of.
  virtual void push_values(Joiner& to) const = 0;

  // How many parts that are, at most.
  virtual std::size_t parts() const = 0;

  // Whether the view shares memory with splits that are read: writing there would change where values are read.
  virtual bool shares_splits(const ConstView& view) const = 0;

  // The ragged tensor that this is, where it exists already.
  virtual const RaggedTensor* whole() const { return nullptr; }

  // The same of a list of splits.
  virtual std::optional<Tensor> existing_splits(int) const { return std::nullopt; }

 protected:
  RaggedSize size_;
};

// Whether the view shares memory with the splits of a ragged tensor.
bool splits_share_memory(const RaggedTensor& rt, const ConstView& view);

// What a level's splits end at.
inline std::int64_t end_of_splits(const RaggedSize& size, std::size_t level) {
  return level + 1 < size.splits.size() ? size.splits[level + 1] - 1 : size.values[0];
}

// Its values, still to be joined.
Joiner joiner_of(const RaggedSource& source);

// Its lists of splits alone, in new memory where they do not exist already; or in memory of the caller's, once that has
// been checked.
Result<std::vector<Tensor>> make_splits(const RaggedSource& source, const Call& call);
void fill_splits(const RaggedSource& source, const RaggedView& out);

// In new memory, but for splits that exist already, and values that lie next to each other.
Result<RaggedTensor> make_ragged(const RaggedSource& source, const Call& call);

// Into memory of the caller's, once that has been checked.
Status fill_ragged(const RaggedSource& source, const RaggedView& out, const Call& call);

// The check alone. `shares_values` tells whether a view shares memory with the values that will be read.
Status check_ragged_output(const RaggedSource& source, const RaggedView& out,
                           const std::function<bool(const ConstView&)>& shares_values);

// All of a ragged tensor, which must outlive this.
class WholeSource final : public RaggedSource {
 public:
  explicit WholeSource(const RaggedTensor& rt);
  void write_splits(int level, SplitsWriter& to) const override;
  void push_values(Joiner& to) const override;
  std::size_t parts() const override { return 1; }
  bool shares_splits(const ConstView& view) const override { return splits_share_memory(rt_, view); }
  const RaggedTensor* whole() const override { return &rt_; }
  std::optional<Tensor> existing_splits(int level) const override {
    return rt_.nested_row_splits()[static_cast<std::size_t>(level)];
  }

 private:
  const RaggedTensor& rt_;
};

}  // namespace backslice
