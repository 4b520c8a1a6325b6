#include "ragged/rows_source.h"

#include <algorithm>

#include "core/row_layout.h"

namespace backslice {

RowsSource::RowsSource(const RaggedTensor& rt, const Selection& rows, const Call& call)
    : rt_(rt), tasks_(call.tasks), axis_(rows.axis(0)), is_one_(rows.is_dropped(0)) {
  size_.dtype = rt.dtype();
  size_.item_size = rt.values().view().layout.item_size;
  size_.splits_dtype = rt.splits_dtype();
  const bool neighbours = axis_.step == 1 || axis_.count <= 1;
  ranges_ = neighbours ? 1 : axis_.count;
  rows_per_range_ = neighbours ? axis_.count : 1;
  measure();
}

void RowsSource::measure() {
  const int rank = rt_.ragged_rank();
  std::vector<std::int64_t> rows(static_cast<std::size_t>(rank) + 1, 0);  // of each level, and of the values
  if (rank == 0) rows[0] = axis_.count;
  for (std::int64_t i = 0; rank > 0 && i < ranges_; ++i) {
    tasks_.throw_if_cancelled_at(i);
    Range taken = range(i);
    for (int level = 0; level < rank; ++level) {
      rows[static_cast<std::size_t>(level)] += taken.hi - taken.lo;
      taken = {rt_.split(level, taken.lo), rt_.split(level, taken.hi)};
    }
    rows.back() += taken.hi - taken.lo;
  }
  for (int level = is_one_ ? 1 : 0; level < rank; ++level) {
    size_.splits.push_back(rows[static_cast<std::size_t>(level)] + 1);
  }
  const Layout& values = rt_.values().view().layout;
  size_.values = is_one_ && rank == 0 ? row_layout(values).shape : with_rows(values.shape, rows.back());
}

void RowsSource::write_splits(int level, SplitsWriter& to) const {
  const int own = is_one_ ? level + 1 : level;
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < ranges_; ++i) {
    tasks_.throw_if_cancelled_at(i);
    const Range rows = at_level(range(i), own);
    const std::int64_t before = sum - rt_.split(own, rows.lo);
    for (std::int64_t row = rows.lo; row < rows.hi; ++row) to.push(sum = before + rt_.split(own, row + 1));
  }
}

void RowsSource::push_values(Joiner& to) const {
  const Tensor& values = rt_.values();
  const std::int64_t inner = values.shape().elements() / std::max<std::int64_t>(1, values.shape()[0]);
  for (std::int64_t i = 0; i < ranges_; ++i) {
    tasks_.throw_if_cancelled_at(i);
    const Range rows = at_level(range(i), rt_.ragged_rank());
    to.push(values.data() + rows.lo * inner * size_.item_size, (rows.hi - rows.lo) * inner,
            [&]() -> const Buffer& { return values.buffer(); });
  }
}

}  // namespace backslice
