#include "fuzz/ragged_model.h"

#include "fuzz/must.h"

namespace backslice::fuzz {

Tensor tensor_of(Input& in, DType dtype, const Numbers& list) {
  Placed placed(in, dtype, item_size(dtype), {static_cast<std::int64_t>(list.size())}, Strides::Distinct,
                Device::cpu());
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::byte* p = placed.view().data + static_cast<std::int64_t>(i) * placed.view().layout.strides[0];
    const auto narrow = static_cast<std::int32_t>(list[i]);
    std::memcpy(p, dtype == DType::Int32 ? static_cast<const void*>(&narrow) : &list[i],
                static_cast<std::size_t>(item_size(dtype)));
  }
  return owned(std::move(placed));
}

namespace {

// Makes splits of every level, each ending at the number of rows of the next, and the number of values.
std::int64_t any_splits(Input& in, std::vector<Numbers>& splits) {
  std::int64_t rows = in.within(0, 5);
  for (auto levels = in.within(0, 3); levels > 0; --levels) {
    Numbers list = {0};
    for (; rows > 0; --rows) list.push_back(list.back() + in.within(0, 3));
    rows = list.back();
    splits.push_back(list);
  }
  return rows;
}

}  // namespace

RaggedParts any_ragged_parts(Input& in) {
  std::vector<Numbers> splits;
  const std::int64_t rows = any_splits(in, splits);
  const DType dtype = in.dtype(), splits_dtype = in.flag() ? DType::Int64 : DType::Int32;
  const std::int64_t item_size = any_item_size(in, dtype);
  Numbers shape = {rows};
  if (in.flag()) shape.push_back(in.within(0, 4));
  if (in.one_in(12)) shape.push_back(in.within(0, 3));
  for (Numbers& list : splits) {
    if (in.one_in(24)) in.pick(std::vector<std::int64_t*>{&list.front(), &list.back()})[0] = in.integer();
  }
  Tensor values = owned(Placed(in, dtype, item_size, shape, Strides::Distinct));
  std::vector<Tensor> tensors;
  for (Numbers& list : splits) {
    if (splits_dtype == DType::Int32) {
      for (std::int64_t& split : list) split = static_cast<std::int32_t>(split);
    }
    tensors.push_back(tensor_of(in, splits_dtype, list));
  }
  return {dtype, splits_dtype, item_size, shape, splits, values, tensors};
}

bool is_valid(const RaggedParts& c) {
  for (std::size_t level = 0; level < c.splits.size(); ++level) {
    const Numbers& list = c.splits[level];
    const std::int64_t inner =
        level + 1 < c.splits.size() ? static_cast<std::int64_t>(c.splits[level + 1].size()) - 1 : c.values_shape[0];
    if (list.front() != 0 || !std::ranges::is_sorted(list) || list.back() != inner) return false;
  }
  return true;
}

std::vector<Nested> zero_rows(const RaggedParts& parts, std::int64_t rows) {
  std::int64_t width = rows > 0 ? 1 : 0;
  for (std::size_t i = 1; i < parts.values_shape.size(); ++i) width *= parts.values_shape[i];
  const Nested row{{}, Values(static_cast<std::size_t>(width), zero(parts.dtype, parts.item_size))};
  return std::vector<Nested>(static_cast<std::size_t>(rows), row);
}

std::vector<Nested> value_rows(const ConstView& values) {
  std::vector<Nested> rows(static_cast<std::size_t>(values.shape()[0]));
  const Values all = values_of(values);
  const std::size_t width = rows.empty() ? 0 : all.size() / rows.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(i * width);
    rows[i].elements.assign(first, first + static_cast<std::ptrdiff_t>(width));
  }
  return rows;
}

// Builds rows from the innermost level out: the rows of a level are runs of the level inside.
Nested nested(std::vector<Nested> rows, const std::vector<Numbers>& splits) {
  for (std::size_t level = splits.size(); level-- > 0;) {
    std::vector<Nested> outer;
    for (std::size_t i = 1; i < splits[level].size(); ++i) {
      outer.push_back({{rows.begin() + splits[level][i - 1], rows.begin() + splits[level][i]}, {}});
    }
    rows = std::move(outer);
  }
  return {rows, {}};
}

Nested nested(const RaggedTensor& rt) {
  if (rt.values().shape().rank() == 0) return {{}, values_of(rt.values().view())};
  std::vector<Numbers> splits;
  for (int level = 0; level < rt.ragged_rank(); ++level) {
    Numbers list;
    const Tensor& tensor = rt.nested_row_splits()[static_cast<std::size_t>(level)];
    for (std::int64_t i = 0; i < tensor.shape()[0]; ++i) list.push_back(rt.split(level, i));
    must(list.front() == 0 && std::ranges::is_sorted(list), "the splits of a ragged tensor are valid");
    splits.push_back(list);
  }
  return nested(value_rows(rt.values().view()), splits);
}

Values flattened(const Nested& row) {
  Values all = row.elements;
  for (const Nested& inner : row.rows) {
    const Values more = flattened(inner);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

void check_row(const RaggedTensor& found, const Nested& expected, int ragged_rank, const std::string& what) {
  must(ragged_rank == 0 ? flattened(nested(found)) == flattened(expected) : nested(found) == expected, what);
}

}  // namespace backslice::fuzz
