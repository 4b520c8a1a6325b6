#include "ragged/selected_source.h"

#include "memory/tensor_rows.h"

namespace backslice {

SelectedSource::SelectedSource(const RaggedSelection& selection, const Call& call)
    : selection_(selection), rt_(selection.tensor()), tasks_(call.tasks) {
  const int rank = rt_.ragged_rank();
  rows_.resize(static_cast<std::size_t>(rank) + 1);
  for (int source = selection.first_level(); source < rank; ++source) {
    rows_[static_cast<std::size_t>(source)] = selection.count(source, tasks_);
  }
  std::int64_t count = 0, segments = 0;
  selection.for_each_run(rank, tasks_, [&](const RaggedSelection::Rows& rows) {
    count += rows.count;
    segments += rows.step == 1 ? 1 : rows.count;
  });
  rows_.back() = count;
  segments_ = static_cast<std::size_t>(segments);
  size_.dtype = rt_.dtype();
  size_.item_size = rt_.values().view().layout.item_size;
  size_.splits_dtype = rt_.splits_dtype();
  size_.device = rt_.device();
  if (const auto run = selection.one_run(rank)) one_slice_ = selection.of_values(rt_.values().shape(), *run);
  size_.values = one_slice_ ? one_slice_->result_shape() : of_rows().result_shape();
  const auto levels = static_cast<int>(selection.levels().size());
  for (int i = 0; i < levels; ++i) {
    const bool is_one = level(i).rows == Level::Rows::OneWithAll;
    size_.splits.push_back((is_one ? 1 : rows_of(level(i).source)) + 1);
  }
}

void SelectedSource::write_splits(int i, SplitsWriter& to) const {
  const int source = level(i).source;
  if (level(i).rows == Level::Rows::OneWithAll) return to.push(end_of_splits(size_, static_cast<std::size_t>(i)));
  std::int64_t sum = 0;
  if (level(i).rows == Level::Rows::OneEach) {
    while (sum < rows_of(source)) to.push(++sum);
    return;
  }
  std::int64_t steps = 0;
  const bool are_whole = selection_.selects_whole_rows(source);
  selection_.for_each_run(source, tasks_, [&](const RaggedSelection::Rows& rows) {
    for (std::int64_t k = 0; k < rows.count; ++k) {
      tasks_.throw_if_cancelled_at(steps++);
      to.push(sum += selection_.items_of(source, rows.start + k * rows.step, are_whole).count);
    }
  });
}

void SelectedSource::push_values(Joiner& to) const {
  const Tensor& values = rt_.values();
  const std::int64_t inner = elements_per_row(values.shape());
  const auto push = [&](std::int64_t row, std::int64_t count) {
    to.push(values.data() + row * inner * size_.item_size, count * inner,
            [&]() -> const Buffer& { return values.buffer(); });
  };
  std::int64_t steps = 0;
  selection_.for_each_run(rt_.ragged_rank(), tasks_, [&](const RaggedSelection::Rows& rows) {
    if (rows.step == 1) return push(rows.start, rows.count);
    for (std::int64_t k = 0; k < rows.count; ++k) {
      tasks_.throw_if_cancelled_at(steps++);
      push(rows.start + k * rows.step, 1);
    }
  });
}

// Returns the tensor's own splits if whole rows are selected, from the first on.
std::optional<Tensor> SelectedSource::existing_splits(int i) const {
  if (level(i).rows != Level::Rows::Selected || !selection_.selects_whole_rows(level(i).source)) return std::nullopt;
  const auto rows = selection_.one_run(level(i).source);
  if (!rows || rows->start != 0 || rows->step != 1) return std::nullopt;
  return backslice::rows_of(rt_.nested_row_splits()[static_cast<std::size_t>(level(i).source)], 0, rows->count + 1);
}

}  // namespace backslice
