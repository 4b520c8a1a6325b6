#include "fuzz/sparse_model.h"

#include <deque>
#include <map>

namespace backslice::fuzz {
namespace {

std::int64_t any_index(Input& in, DType dtype) {
  if (!in.one_in(16)) return in.within(0, 4);
  const std::int64_t any = in.integer();
  return dtype == DType::Int32 ? static_cast<std::int32_t>(any) : any;
}

}  // namespace

std::vector<Numbers> any_rows(Input& in, const SparseCase& c) {
  std::vector<Numbers> rows(static_cast<std::size_t>(in.within(0, 16)));
  for (Numbers& row : rows) {
    for (int axis = 0; axis < c.rank; ++axis) row.push_back(any_index(in, c.index_dtype));
  }
  if (rows.empty() || !in.one_in(48)) return rows;
  const auto pattern = rows.size();
  const auto step = static_cast<std::size_t>(in.within(1, 7));
  for (auto left = in.within(1, 30000); left > 0; --left) rows.push_back(rows[rows.size() * step % pattern]);
  return rows;
}

SparseCase any_sparse_case(Input& in) {
  SparseCase c;
  c.rank = static_cast<int>(in.one_in(12) ? in.within(0, 32) : in.within(0, 3));
  c.index_dtype = in.flag() ? DType::Int64 : DType::Int32;
  c.dtype = in.dtype();
  c.item_size = any_item_size(in, c.dtype);
  c.rows = any_rows(in, c);
  for (int axis = 0; axis < c.rank; ++axis) {
    c.start.push_back(in.one_in(12) ? in.integer() : in.within(-1, 3));
    c.size.push_back(in.one_in(12) ? in.integer() : in.within(0, 5));
  }
  if (in.flag()) c.inner = c.rows.size() > 16 ? Numbers{in.within(1, 4)} : in.small_shape(2, 5);
  return c;
}

std::vector<Numbers> any_output_rows(Input& in, const SparseCase& c) {
  std::vector<Numbers> output;
  const auto relative = [&](const Numbers& row) {
    Numbers moved;
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::int64_t index;
      if (__builtin_sub_overflow(row[i], c.start[i], &index)) index = 0;
      moved.push_back(c.index_dtype == DType::Int32 ? static_cast<std::int32_t>(index) : index);
    }
    return moved;
  };
  if (c.rows.size() <= 16 && in.one_in(8)) return any_rows(in, c);
  const auto every = static_cast<std::size_t>(in.within(1, 3));
  for (std::size_t r = static_cast<std::size_t>(in.within(0, 2)); r < c.rows.size(); r += every) {
    output.push_back(relative(c.rows[r]));
  }
  for (auto swaps = in.within(0, 3); swaps > 0 && !output.empty(); --swaps) {
    const auto last = static_cast<std::int64_t>(output.size()) - 1;
    std::swap(output[static_cast<std::size_t>(in.within(0, last))],
              output[static_cast<std::size_t>(in.within(0, last))]);
  }
  if (in.one_in(8)) std::reverse(output.begin(), output.end());
  return output;
}

Numbers values_shape(const SparseCase& c, std::int64_t rows) {
  Numbers shape = {rows};
  shape.insert(shape.end(), c.inner.begin(), c.inner.end());
  return shape;
}

Rows wide(const std::vector<Numbers>& rows) {
  Rows list;
  for (const Numbers& row : rows) list.emplace_back(row.begin(), row.end());
  return list;
}

Numbers window(const SparseCase& c) {
  Numbers inside;
  for (std::size_t r = 0; r < c.rows.size(); ++r) {
    bool all = true;
    for (std::size_t i = 0; i < c.start.size(); ++i) {
      const Wide distance = Wide{c.rows[r][i]} - c.start[i];
      all &= distance >= 0 && distance < c.size[i];
    }
    if (all) inside.push_back(static_cast<std::int64_t>(r));
  }
  return inside;
}

Rows shifted(const Rows& rows, const Numbers& start) {
  Rows sums = rows;
  for (Row& row : sums) {
    for (std::size_t i = 0; i < row.size(); ++i) row[i] += start[i];
  }
  return sums;
}

Matches in_order(const Rows& input, const Rows& wanted) {
  Numbers found(input.size(), kNone);
  std::size_t next = 0;
  for (std::size_t r = 0; r < input.size() && next < wanted.size(); ++r) {
    if (input[r] == wanted[next]) found[r] = static_cast<std::int64_t>(next++);
  }
  if (next < wanted.size()) return std::nullopt;
  return found;
}

Matches any_order(const Rows& input, const Rows& wanted) {
  std::map<Row, std::deque<std::int64_t>> waiting;
  for (std::size_t k = 0; k < wanted.size(); ++k) waiting[wanted[k]].push_back(static_cast<std::int64_t>(k));
  Numbers found(input.size(), kNone);
  std::size_t used = 0;
  for (std::size_t r = 0; r < input.size(); ++r) {
    const auto list = waiting.find(input[r]);
    if (list == waiting.end() || list->second.empty()) continue;
    found[r] = list->second.front();
    list->second.pop_front();
    ++used;
  }
  if (used < wanted.size()) return std::nullopt;
  return found;
}

Values gradient(const SparseCase& c, const Numbers& found, const Values& grad, const Values* before) {
  std::size_t width = 1;
  for (std::int64_t extent : c.inner) width *= static_cast<std::size_t>(extent);
  Values out;
  for (std::size_t r = 0; r < found.size(); ++r) {
    for (std::size_t k = 0; k < width; ++k) {
      const Value base = before != nullptr ? (*before)[r * width + k] : zero(c.dtype, c.item_size);
      if (found[r] == kNone) {
        out.push_back(base);
        continue;
      }
      const Value& term = grad[static_cast<std::size_t>(found[r]) * width + k];
      out.push_back(before != nullptr ? sum(c.dtype, base, term) : term);
    }
  }
  return out;
}

}  // namespace backslice::fuzz
