#include "ragged/stack_source.h"

#include <algorithm>

#include "memory/tensor_rows.h"

namespace backslice {
namespace {

std::int64_t rows_at(const RaggedTensor& rt, int level) {
  return rt.nested_row_splits()[static_cast<std::size_t>(level)].shape()[0] - 1;
}

Status check_like_first(const Shape& shape, const Shape& first, std::size_t i) {
  if (shape.rank() == 0) {
    return invalid_argument("element ", i, " of encoded is a scalar, which cannot be a row of a ragged tensor")
        .at("encoded", static_cast<std::int64_t>(i));
  }
  if (std::equal(shape.begin() + 1, shape.end(), first.begin() + 1, first.end())) return Status();
  return invalid_argument("element ", i, " of encoded has values of shape ", Ints(shape), ", element 0 has ",
                          Ints(first), "; they must agree but for their first extent")
      .at("encoded", static_cast<std::int64_t>(i));
}

// Returns the shape of all values together. They agree but for their first extent.
Result<Shape> joined_values(const StackSource::Elements& elements) {
  const Shape& first = elements[0]->values().shape();
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Shape& shape = elements[i]->values().shape();
    BACKSLICE_RETURN_IF_ERROR(check_like_first(shape, first, i));
    if (__builtin_add_overflow(rows, shape[0], &rows)) {
      return invalid_argument("the elements of encoded have more than 2**63 - 1 rows of values (at element ", i, ")")
          .at("encoded", static_cast<std::int64_t>(i));
    }
  }
  Dims dims(first);
  dims[0] = rows;
  const auto shape = Shape::make(dims, "the result's values");
  if (!shape.ok()) return shape.status().at("encoded");
  return shape;
}

RaggedSize size_like(const RaggedTensor& first, const Shape& values, DType splits_dtype) {
  return {{}, values, first.dtype(), first.values().view().layout.item_size, splits_dtype, first.device()};
}

}  // namespace

Result<std::unique_ptr<RaggedSource>> StackSource::rows(Elements elements, DType splits_dtype) {
  const auto values = joined_values(elements);
  if (!values.ok()) return values.status();
  RaggedSize size = size_like(*elements[0], *values, splits_dtype);
  size.splits.push_back(static_cast<std::int64_t>(elements.size()) + 1);
  for (int level = 0; level < elements[0]->ragged_rank(); ++level) {
    std::int64_t rows = 0;  // at most as many as there are splits in memory
    for (const RaggedTensor* rt : elements) rows += rows_at(*rt, level);
    size.splits.push_back(rows + 1);
  }
  return std::unique_ptr<RaggedSource>(new StackSource(std::move(size), std::move(elements)));
}

Result<std::unique_ptr<RaggedSource>> StackSource::dense(Elements elements) {
  const Shape& first = elements[0]->values().shape();
  for (std::size_t i = 1; i < elements.size(); ++i) {
    const Shape& shape = elements[i]->values().shape();
    if (shape == first) continue;
    return invalid_argument("element ", i, " of encoded has shape ", Ints(shape), ", but element 0 has ", Ints(first),
                            "; a dense stack needs equal shapes")
        .at("encoded", static_cast<std::int64_t>(i));
  }
  const auto shape = stacked_shape(static_cast<std::int64_t>(elements.size()), first);
  if (!shape.ok()) return shape.status();
  RaggedSize size = size_like(*elements[0], *shape, DType::Int64);
  return std::unique_ptr<RaggedSource>(new StackSource(std::move(size), std::move(elements)));
}

void StackSource::write_splits(int level, SplitsWriter& to) const {
  std::int64_t rows = 0;
  for (const RaggedTensor* rt : elements_) {
    if (level == 0) {
      to.push(rows += rt->rows());
      continue;
    }
    const int own = level - 1;
    const std::int64_t count = rows_at(*rt, own);
    for (std::int64_t i = 1; i <= count; ++i) to.push(rows + rt->split(own, i));
    rows += rt->split(own, count);
  }
}

void StackSource::push_values(Joiner& to) const {
  for (const RaggedTensor* rt : elements_) {
    const Tensor& values = rt->values();
    to.push(values.data(), values.shape().elements(), [&]() -> const Buffer& { return values.buffer(); });
  }
}

bool StackSource::shares_splits(const ConstView& view) const {
  return std::any_of(elements_.begin(), elements_.end(),
                     [&](const RaggedTensor* rt) { return splits_share_memory(*rt, view); });
}

Result<std::unique_ptr<RaggedSource>> UniformAxes::above(std::unique_ptr<RaggedSource> rows, const Shape& array) {
  if (array.rank() == 1) return rows;
  RaggedSize size = rows->size();
  std::vector<std::int64_t> splits;
  std::int64_t above = 1;
  for (int axis = 0; axis + 1 < array.rank(); ++axis) {
    const auto length = splits_of_rows(above *= array[axis]);
    if (!length.ok()) return length.status();
    splits.push_back(*length);
  }
  size.splits.insert(size.splits.begin(), splits.begin(), splits.end());
  return std::unique_ptr<RaggedSource>(new UniformAxes(std::move(size), std::move(rows), array));
}

void UniformAxes::write_splits(int level, SplitsWriter& to) const {
  if (level >= axes_) return rows_->write_splits(level - axes_, to);
  const std::int64_t count = size_.splits[static_cast<std::size_t>(level)] - 1, length = array_[level + 1];
  for (std::int64_t i = 1; i <= count; ++i) to.push(i * length);
}

}  // namespace backslice
