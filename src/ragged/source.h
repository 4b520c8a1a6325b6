// RaggedSource: a ragged tensor that is still to be written. It gives the size, then the lists of splits and the
// values, into new memory or into the caller's.
#pragma once

#include <optional>

#include "backslice/ragged_tensor.h"
#include "ops/joiner.h"
#include "ragged/named.h"
#include "ragged/splits_writer.h"

namespace backslice {

class RaggedSource {
 public:
  RaggedSource() = default;  // with a size to be set later
  explicit RaggedSource(RaggedSize size) : size_(std::move(size)) {}
  virtual ~RaggedSource() = default;

  const RaggedSize& size() const { return size_; }
  int levels() const { return static_cast<int>(size_.splits.size()); }

  // Writes all splits of a level but the first.
  virtual void write_splits(int level, SplitsWriter& to) const = 0;

  // Adds the values as segments. They live as long as the source's own inputs.
  virtual void push_values(Joiner& to) const = 0;

  // Returns the most segments that push_values adds.
  virtual std::size_t segments() const = 0;

  // Returns whether the view shares memory with splits that are read. Writing there would change the positions that are
  // read.
  virtual bool shares_splits(const ConstView& view) const = 0;

  // Returns this ragged tensor if it exists already.
  virtual const RaggedTensor* whole() const { return nullptr; }

  // Returns a list of splits if it exists already.
  virtual std::optional<Tensor> existing_splits(int) const { return std::nullopt; }

 protected:
  RaggedSize size_;
};

// Returns whether the view shares memory with the splits of a ragged tensor.
bool splits_share_memory(const RaggedTensor& rt, const ConstView& view);

// Returns the last split of a level.
inline std::int64_t end_of_splits(const RaggedSize& size, std::size_t level) {
  return level + 1 < size.splits.size() ? size.splits[level + 1] - 1 : size.values[0];
}

// Returns its values as segments, not yet joined.
Joiner joiner_of(const RaggedSource& source);

// make_splits() allocates its lists of splits, except for existing ones. fill_splits() writes them into the caller's
// memory, which must be checked.
Result<std::vector<Tensor>> make_splits(const RaggedSource& source, const Call& call);
void fill_splits(const RaggedSource& source, const RaggedView& out);

// Makes the tensor in new memory, except for existing splits and contiguous values.
Result<RaggedTensor> make_ragged(const RaggedSource& source, const Call& call);

// Writes into the caller's memory, after checking it.
Status fill_ragged(const RaggedSource& source, const RaggedView& out, const RaggedViewNames& names, const Call& call);

// Does only the check. `shares_values` returns whether a view shares memory with the values to be read.
Status check_ragged_output(const RaggedSource& source, const RaggedView& out, const RaggedViewNames& names,
                           const std::function<bool(const ConstView&)>& shares_values);

// All of a ragged tensor, which must outlive this.
class WholeSource final : public RaggedSource {
 public:
  explicit WholeSource(const RaggedTensor& rt);
  void write_splits(int level, SplitsWriter& to) const override;
  void push_values(Joiner& to) const override;
  std::size_t segments() const override { return 1; }
  bool shares_splits(const ConstView& view) const override { return splits_share_memory(rt_, view); }
  const RaggedTensor* whole() const override { return &rt_; }
  std::optional<Tensor> existing_splits(int level) const override {
    return rt_.nested_row_splits()[static_cast<std::size_t>(level)];
  }

 private:
  const RaggedTensor& rt_;
};

}  // namespace backslice
