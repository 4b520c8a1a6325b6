// SelectedSource: the ragged tensor that a RaggedSelection selects from another.
//
// If the selected values are one run of rows, they are a dense slice. Otherwise their rows are joined, and the selected
// part of each row is a dense slice of that.
#pragma once

#include "core/row_layout.h"
#include "ragged/ragged_selection.h"
#include "ragged/source.h"

namespace backslice {

class SelectedSource final : public RaggedSource {
 public:
  // The selection and the call must outlive this.
  SelectedSource(const RaggedSelection& selection, const Call& call);

  // Returns the values as one dense slice of the tensor's values, if they are one.
  const std::optional<Selection>& one_slice() const { return one_slice_; }

  // Returns the shape of the selected rows of the values, and the dense slice of it that is the result. Precondition:
  // it is not one slice.
  Shape rows_shape() const { return with_rows(rt_.values().shape(), rows_.back()); }
  Selection of_rows() const { return selection_.of_values(rows_shape(), {0, 1, rows_.back()}); }

  // Returns the selected rows of the values, whole.
  void write_splits(int level, SplitsWriter& to) const override;
  void push_values(Joiner& to) const override;
  std::size_t segments() const override { return segments_; }
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
  std::size_t segments_ = 0;
  std::vector<std::int64_t> rows_;  // how many rows of each level, and of the values, are selected
};

}  // namespace backslice
