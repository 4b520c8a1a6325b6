// TakenSource: the ragged tensor that a RaggedSelection takes out of another.
//
// Where the values that are taken are one run of rows, they are a dense slice. Otherwise their rows are joined, and
// what is taken of each row is a dense slice of that.
#pragma once

#include "core/row_layout.h"
#include "ragged/ragged_selection.h"
#include "ragged/source.h"

namespace backslice {

class TakenSource final : public RaggedSource {
 public:
  // The selection must outlive this, as the call must.
  TakenSource(const RaggedSelection& selection, const Call& call);

  // The values as one dense slice of the tensor's, where they are.
  const std::optional<Selection>& one_slice() const { return one_slice_; }

  // The rows that are taken of the values, as a shape, and what of it the result has. Not for one slice.
  Shape rows_shape() const { return with_rows(rt_.values().shape(), rows_.back()); }
  Selection of_rows() const { return selection_.of_values(rows_shape(), {0, 1, rows_.back()}); }

  // The rows of the values, whole.
  void write_splits(int level, SplitsWriter& to) const override;
  void push_values(Joiner& to) const override;
  std::size_t parts() const override { return parts_; }
  bool shares_splits(const ConstView& view) const override { return splits_share_memory(rt_, view); }
  std::optional<Tensor> existing_splits(int level) const override;

 private:
  using Level = RaggedSelection::Level;

  const Level& level(int i) const { return selection_.levels()[static_cast<std::size_t>(i)]; }
  std::int64_t rows_of(int source) const { return rows_[static_cast<std::size_t>(source)]; }

  const RaggedSelection& selection_;
  const RaggedTensor& rt_;
  const TaskRunner& tasks_;
  std::optional<Selection> one_slice_;
  std::size_t parts_ = 0;
  std::vector<std::int64_t> rows_;  // how many are taken of each level of the tensor, and of the values
};

}  // namespace backslice
