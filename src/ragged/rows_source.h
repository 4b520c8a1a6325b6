// RowsSource: rows of a ragged tensor, as a slice takes them. Nothing is kept per row: there may be millions.
#pragma once

#include "ragged/source.h"

namespace backslice {

class RowsSource final : public RaggedSource {
 public:
  // Precondition: `rows` is a row or a range of the rows of rt, which must outlive this, as the call must.
  RowsSource(const RaggedTensor& rt, const Selection& rows, const Call& call);

  void write_splits(int level, SplitsWriter& to) const override;
  void push_values(Joiner& to) const override;
  std::size_t parts() const override { return static_cast<std::size_t>(ranges_); }
  bool shares_splits(const ConstView& view) const override { return splits_share_memory(rt_, view); }

 private:
  // Range i of the rows that are taken, in their order.
  Range range(std::int64_t i) const {
    const std::int64_t first = axis_.start + i * axis_.step;
    return {first, first + rows_per_range_};
  }

  // The rows of a range, as rows of that level.
  Range at_level(Range rows, int level) const {
    for (int above = 0; above < level; ++above) rows = {rt_.split(above, rows.lo), rt_.split(above, rows.hi)};
    return rows;
  }

  void measure();

  const RaggedTensor& rt_;
  const TaskRunner& tasks_;
  Selection::Axis axis_;
  bool is_one_;                           // a row, without the outermost level
  std::int64_t ranges_, rows_per_range_;  // neighbours are one range
};

}  // namespace backslice
