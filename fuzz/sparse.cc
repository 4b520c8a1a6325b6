// Sparse slices and their gradients in both orders and by size, against lists of rows and a map.
#include <deque>
#include <map>

#include "backslice/sparse_slice.h"
#include "fuzz/input.h"
#include "fuzz/must.h"
#include "fuzz/naive_slice.h"
#include "fuzz/placed.h"

namespace backslice::fuzz {
namespace {

using Row = std::vector<Wide>;
using Rows = std::vector<Row>;
constexpr std::int64_t kNone = -1;

// A list of indices as the library takes it: a matrix of any strides, or a vector for each axis.
class IndexList {
 public:
  IndexList(Input& in, DType dtype, const std::vector<Numbers>& rows, int rank) {
    const auto count = static_cast<std::int64_t>(rows.size());
    if (rank > 0 && in.flag()) {
      std::vector<ConstView> views;
      for (int axis = 0; axis < rank; ++axis) {
        parts_.emplace_back(in, dtype, item_size(dtype), Numbers{count}, Strides::Distinct);
        for (std::int64_t r = 0; r < count; ++r)
          store(parts_.back(), {r}, rows[static_cast<std::size_t>(r)][static_cast<std::size_t>(axis)]);
        views.push_back(parts_.back().view());
      }
      indices_ = must_get(CooIndices::from_columns(views), "columns");
    } else {
      parts_.emplace_back(in, dtype, item_size(dtype), Numbers{count, rank}, Strides::Distinct);
      for (std::int64_t r = 0; r < count; ++r) {
        for (int axis = 0; axis < rank; ++axis)
          store(parts_[0], {r, axis}, rows[static_cast<std::size_t>(r)][static_cast<std::size_t>(axis)]);
      }
      indices_ = must_get(CooIndices::from_matrix(parts_[0].view()), "a matrix");
    }
  }

  const CooIndices& get() const { return *indices_; }

 private:
  static void store(const Placed& to, const Numbers& at, std::int64_t index) {
    std::byte* p = to.view().data + offset_of(to.view().layout, at);
    const auto narrow = static_cast<std::int32_t>(index);
    if (to.view().dtype == DType::Int32) {
      std::memcpy(p, &narrow, sizeof narrow);
    } else {
      std::memcpy(p, &index, sizeof index);
    }
  }

  std::vector<Placed> parts_;
  std::optional<CooIndices> indices_;
};

struct Case {
  int rank = 0;
  DType index_dtype = DType::Int64, dtype = DType::Float32;
  std::int64_t item_size = 0;
  std::vector<Numbers> rows;
  Numbers start, size, inner;  // inner: the shape of one entry's values
};

std::int64_t any_index(Input& in, DType dtype) {
  if (!in.one_in(16)) return in.within(0, 4);
  const std::int64_t any = in.integer();
  return dtype == DType::Int32 ? static_cast<std::int32_t>(any) : any;
}

// A few rows mostly; rarely the same rows over and over, enough of them to be cut between threads.
std::vector<Numbers> any_rows(Input& in, const Case& c) {
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

Case any_case(Input& in) {
  Case c;
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

Numbers values_shape(const Case& c, std::int64_t rows) {
  Numbers shape = {rows};
  shape.insert(shape.end(), c.inner.begin(), c.inner.end());
  return shape;
}

Rows wide(const std::vector<Numbers>& rows) {
  Rows list;
  for (const Numbers& row : rows) list.emplace_back(row.begin(), row.end());
  return list;
}

bool has_negative(const Numbers& list) {
  return std::ranges::any_of(list, [](std::int64_t n) { return n < 0; });
}

// Small enough that nothing made of them is too large.
bool is_ordinary(const Numbers& list) {
  return std::ranges::all_of(list, [](std::int64_t n) { return n >= -8 && n <= 8; });
}

// The rows in the window.
Numbers window(const Case& c) {
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

// For each input row the row of the slice that it is, or kNone; nothing where a row of the slice is none of them.
using Matches = std::optional<Numbers>;

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

// The gradient, element by element; `before` is what is added to, if anything is.
Values gradient(const Case& c, const Numbers& found, const Values& grad, const Values* before) {
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

// Checks both forms of a gradient. `call` makes its result, `call_into` fills an output.
template <class Call, class CallInto>
void check_gradient(Input& in, const Case& c, const Matches& found, const Placed& grad, bool allowed, const Call& call,
                    const CallInto& call_into) {
  const auto rows = static_cast<std::int64_t>(c.rows.size());
  const bool strings = c.dtype == DType::String;
  const bool all = has_zero(c.dtype) || grad.view().shape()[0] == rows;
  if (in.flag()) {
    const auto dx = call();
    const bool possible = allowed && found && !strings && all;
    if (!agree(dx.status(), possible, "the sparse gradient")) return;
    must(same(c.dtype, values_of(dx->view()), gradient(c, *found, grad.values(), nullptr)), "the sparse gradient");
    return;
  }
  const bool accumulate = in.flag();
  const Placed out(in, c.dtype, c.item_size, values_shape(c, rows), Strides::Distinct);
  const Values before = out.values();
  const bool possible = allowed && found && !strings && (accumulate ? can_add(c.dtype) : all);
  const bool done = agree(call_into(out.view(), accumulate), possible, "the sparse gradient into an output");
  const Values expected = done ? gradient(c, *found, grad.values(), accumulate ? &before : nullptr) : before;
  must(same(c.dtype, out.values(), expected), "the sparse gradient in the output");
  out.check_gaps();
}

void fuzz_slice(Input& in, const Case& c) {
  const IndexList indices(in, c.index_dtype, c.rows, c.rank);
  const Placed values(in, c.dtype, c.item_size, values_shape(c, static_cast<std::int64_t>(c.rows.size())),
                      Strides::Any);
  Numbers shape;
  for (int axis = 0; axis < c.rank; ++axis) shape.push_back(in.one_in(16) ? in.integer() : in.within(0, 6));
  const auto y = sparse_slice(indices.get(), values.view(), shape, c.start, c.size, {.executor = &in.executor()});
  if (is_ordinary(c.start) && is_ordinary(c.size) && is_ordinary(shape) && shape.size() <= 8) {
    agree(y.status(), !has_negative(c.size) && !has_negative(shape), "sparse_slice");
  }
  if (!y.ok()) return must(!y.status().message().empty(), "an error has a message");
  must(!has_negative(c.size), "a negative size is refused");
  const Numbers inside = window(c);
  const Values all = values.values();
  const std::size_t width = c.rows.empty() ? 0 : all.size() / c.rows.size();
  Values expected;
  Rows expected_indices, found_indices;
  for (std::int64_t r : inside) {
    const auto row = static_cast<std::size_t>(r);
    expected.insert(expected.end(), all.begin() + static_cast<std::ptrdiff_t>(row * width),
                    all.begin() + static_cast<std::ptrdiff_t>((row + 1) * width));
    Row index;
    for (std::size_t i = 0; i < c.start.size(); ++i) index.push_back(Wide{c.rows[row][i]} - c.start[i]);
    expected_indices.push_back(index);
  }
  must(values_of(y->values.view()) == expected, "the values in the window");
  must(y->indices.shape()[0] == static_cast<std::int64_t>(inside.size()), "as many indices as values");
  const Values flat = values_of(y->indices.view());
  for (std::size_t k = 0; k < inside.size(); ++k) {
    Row row;
    for (int axis = 0; axis < c.rank; ++axis) {
      const Value& bytes = flat[k * static_cast<std::size_t>(c.rank) + static_cast<std::size_t>(axis)];
      std::int64_t number = 0;
      std::int32_t narrow = 0;
      if (bytes.size() == 4) {
        std::memcpy(&narrow, bytes.data(), 4);
        number = narrow;
      } else {
        std::memcpy(&number, bytes.data(), 8);
      }
      row.push_back(number);
    }
    found_indices.push_back(row);
  }
  must(found_indices == expected_indices, "the indices in the window, from its start");
}

void fuzz_by_size(Input& in, const Case& c) {
  const IndexList indices(in, c.index_dtype, c.rows, c.rank);
  const Numbers inside = window(c);
  const auto right = static_cast<std::int64_t>(inside.size());
  const std::int64_t rows = in.one_in(16) ? in.within(0, 20) : right;
  const Placed grad(in, c.dtype, c.item_size, values_shape(c, rows), Strides::Any);
  Numbers found(c.rows.size(), kNone);
  for (std::size_t k = 0; k < inside.size(); ++k)
    found[static_cast<std::size_t>(inside[k])] = static_cast<std::int64_t>(k);
  Executor& executor = in.executor();
  check_gradient(
      in, c, found, grad, rows == right && !has_negative(c.size),
      [&] { return sparse_slice_grad_by_size(grad.view(), indices.get(), c.start, c.size, {.executor = &executor}); },
      [&](const View& out, bool accumulate) {
        return sparse_slice_grad_by_size_into(grad.view(), indices.get(), c.start, c.size, out,
                                              {.accumulate = accumulate, .executor = &executor});
      });
}

// The rows of a slice: those in the window, or some of the input's in their order or any other, or anything.
std::vector<Numbers> any_output_rows(Input& in, const Case& c) {
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

void fuzz_gradient(Input& in, const Case& c) {
  const std::vector<Numbers> output = any_output_rows(in, c);
  const IndexList input_list(in, c.index_dtype, c.rows, c.rank), output_list(in, c.index_dtype, output, c.rank);
  const Placed grad(in, c.dtype, c.item_size, values_shape(c, static_cast<std::int64_t>(output.size())), Strides::Any);
  const bool any = in.flag();
  const Rows wanted = shifted(wide(output), c.start);
  const Matches found = any ? any_order(wide(c.rows), wanted) : in_order(wide(c.rows), wanted);
  SparseGradOptions options;
  options.order = any ? MatchOrder::Any : MatchOrder::InOrder;
  options.executor = &in.executor();
  check_gradient(
      in, c, found, grad, true,
      [&] { return sparse_slice_grad(grad.view(), input_list.get(), c.start, output_list.get(), options); },
      [&](const View& out, bool accumulate) {
        options.accumulate = accumulate;
        return sparse_slice_grad_into(grad.view(), input_list.get(), c.start, output_list.get(), out, options);
      });
}

}  // namespace
}  // namespace backslice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace backslice::fuzz;
  Input in(data, size);
  const auto what = in.within(0, 3);
  const Case c = any_case(in);
  if (what == 0)
    fuzz_slice(in, c);
  else if (what == 1)
    fuzz_by_size(in, c);
  else
    fuzz_gradient(in, c);
  return 0;
}
