// Sparse slices and their gradients, in both orders and by size, compared with lists of rows and a map.
#include "fuzz/input.h"
#include "fuzz/must.h"
#include "fuzz/sparse_model.h"

namespace backslice::fuzz {
namespace {

// A list of indices in both forms that the library accepts: a matrix of any strides, or a vector for each axis.
class IndexList {
 public:
  IndexList(Input& in, DType dtype, const std::vector<Numbers>& rows, int rank) {
    const auto count = static_cast<std::int64_t>(rows.size());
    if (rank > 0 && in.flag()) {
      std::vector<ConstView> views;
      for (int axis = 0; axis < rank; ++axis) {
        parts_.emplace_back(in, dtype, item_size(dtype), Numbers{count}, Strides::Distinct);
        parts_.back().edit([&](const View& view) {
          for (std::int64_t r = 0; r < count; ++r)
            store(view, {r}, rows[static_cast<std::size_t>(r)][static_cast<std::size_t>(axis)]);
        });
        views.push_back(parts_.back().view());
      }
      indices_ = must_get(CooIndices::from_columns(views), "columns");
    } else {
      parts_.emplace_back(in, dtype, item_size(dtype), Numbers{count, rank}, Strides::Distinct);
      parts_[0].edit([&](const View& view) {
        for (std::int64_t r = 0; r < count; ++r) {
          for (int axis = 0; axis < rank; ++axis)
            store(view, {r, axis}, rows[static_cast<std::size_t>(r)][static_cast<std::size_t>(axis)]);
        }
      });
      indices_ = must_get(CooIndices::from_matrix(parts_[0].view()), "a matrix");
    }
  }

  const CooIndices& get() const { return *indices_; }

 private:
  static void store(const View& to, const Numbers& at, std::int64_t index) {
    std::byte* p = to.data + offset_of(to.layout, at);
    const auto narrow = static_cast<std::int32_t>(index);
    if (to.dtype == DType::Int32) {
      std::memcpy(p, &narrow, sizeof narrow);
    } else {
      std::memcpy(p, &index, sizeof index);
    }
  }

  std::vector<Placed> parts_;
  std::optional<CooIndices> indices_;
};

bool has_negative(const Numbers& list) {
  return std::ranges::any_of(list, [](std::int64_t n) { return n < 0; });
}

// Returns whether all numbers are in [-8, 8], so that no result is too large.
bool is_ordinary(const Numbers& list) {
  return std::ranges::all_of(list, [](std::int64_t n) { return n >= -8 && n <= 8; });
}

// Checks both forms of a gradient. `call` makes its result, `call_into` fills an output.
template <class Call, class CallInto>
void check_gradient(Input& in, const SparseCase& c, const Matches& found, const Placed& grad, bool allowed,
                    const Call& call, const CallInto& call_into) {
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

// Makes a matrix of indices, row by row.
Rows index_rows(const ConstView& indices) {
  const auto rank = static_cast<std::size_t>(indices.shape()[1]);
  Rows rows(static_cast<std::size_t>(indices.shape()[0]));
  const Values flat = values_of(indices);
  for (std::size_t i = 0; i < flat.size(); ++i) {
    std::int64_t number = 0;
    std::int32_t narrow = 0;
    if (indices.dtype == DType::Int32) {
      std::memcpy(&narrow, flat[i].data(), sizeof narrow);
    } else {
      std::memcpy(&number, flat[i].data(), sizeof number);
    }
    rows[i / rank].push_back(number + narrow);
  }
  return rows;
}

// Checks that a slice has the entries in the window, with indices from its start.
struct Slice {
  Rows indices;
  Values values;
};

Slice expected_slice(const SparseCase& c, const Values& all) {
  const std::size_t width = c.rows.empty() ? 0 : all.size() / c.rows.size();
  Slice slice;
  for (std::int64_t r : window(c)) {
    const auto row = static_cast<std::size_t>(r);
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(row * width);
    slice.values.insert(slice.values.end(), first, first + static_cast<std::ptrdiff_t>(width));
    Row index;
    for (std::size_t i = 0; i < c.start.size(); ++i) index.push_back(Wide{c.rows[row][i]} - c.start[i]);
    slice.indices.push_back(index);
  }
  return slice;
}

void check_slice(const Slice& expected, const ConstView& indices, const ConstView& values) {
  must(values_of(values) == expected.values, "the values in the window");
  must(indices.shape()[0] == std::ssize(expected.indices), "as many indices as values");
  must(index_rows(indices) == expected.indices, "the indices in the window, from its start");
}

// Writes the slice `y` again, into outputs of the counted size; rarely of another.
void fuzz_slice_into(Input& in, const SparseCase& c, const IndexList& indices, const Placed& values,
                     const Numbers& shape, const Result<SparseTensor>& y) {
  const Context context{.executor = &in.executor()};
  const auto counted = sparse_slice_count(indices.get(), c.start, c.size, context);
  must(counted.ok() || !y.ok(), "what is sliced is counted");
  must(!y.ok() || *counted == y->values.shape()[0], "as many entries as were counted");
  const std::int64_t right = counted.ok() ? *counted : 0, rows = in.one_in(8) ? in.within(0, 20) : right;
  const Placed out_indices(in, c.index_dtype, item_size(c.index_dtype), {rows, c.rank}, Strides::Distinct);
  const Placed out_values(in, c.dtype, c.item_size, values_shape(c, rows), Strides::Distinct);
  const Values indices_before = out_indices.values(), values_before = out_values.values();
  const auto filled = sparse_slice_into(indices.get(), values.view(), shape, c.start, c.size, out_indices.view(),
                                        out_values.view(), context);
  if (agree(filled.status(), y.ok() && rows == right, "sparse_slice_into")) {
    must(*filled == y->shape, "the shape of the slice");
    check_slice(expected_slice(c, values.values()), out_indices.view(), out_values.view());
  } else {
    must(out_indices.values() == indices_before && out_values.values() == values_before, "a refusal changes nothing");
  }
  out_indices.check_gaps();
  out_values.check_gaps();
}

void fuzz_slice(Input& in, const SparseCase& c) {
  const IndexList indices(in, c.index_dtype, c.rows, c.rank);
  const Placed values(in, c.dtype, c.item_size, values_shape(c, static_cast<std::int64_t>(c.rows.size())),
                      Strides::Any);
  Numbers shape;
  for (int axis = 0; axis < c.rank; ++axis) shape.push_back(in.one_in(16) ? in.integer() : in.within(0, 6));
  const auto y = sparse_slice(indices.get(), values.view(), shape, c.start, c.size, {.executor = &in.executor()});
  if (is_ordinary(c.start) && is_ordinary(c.size) && is_ordinary(shape) && shape.size() <= 8) {
    agree(y.status(), !has_negative(c.size) && !has_negative(shape), "sparse_slice");
  }
  must(y.ok() || !y.status().message().empty(), "an error has a message");
  must(!y.ok() || !has_negative(c.size), "a negative size is refused");
  if (y.ok()) check_slice(expected_slice(c, values.values()), y->indices.view(), y->values.view());
  fuzz_slice_into(in, c, indices, values, shape, y);
}

void fuzz_by_size(Input& in, const SparseCase& c) {
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
                                              accumulate ? Write::Accumulate : Write::Overwrite,
                                              {.executor = &executor});
      });
}

void fuzz_gradient(Input& in, const SparseCase& c) {
  const std::vector<Numbers> output = any_output_rows(in, c);
  const IndexList input_list(in, c.index_dtype, c.rows, c.rank), output_list(in, c.index_dtype, output, c.rank);
  const Placed grad(in, c.dtype, c.item_size, values_shape(c, static_cast<std::int64_t>(output.size())), Strides::Any);
  const bool any = in.flag();
  const Rows wanted = shifted(wide(output), c.start);
  const Matches found = any ? any_order(wide(c.rows), wanted) : in_order(wide(c.rows), wanted);
  const MatchOrder order = any ? MatchOrder::Any : MatchOrder::InOrder;
  const Context context{.executor = &in.executor()};
  check_gradient(
      in, c, found, grad, true,
      [&] { return sparse_slice_grad(grad.view(), input_list.get(), c.start, output_list.get(), order, context); },
      [&](const View& out, bool accumulate) {
        return sparse_slice_grad_into(grad.view(), input_list.get(), c.start, output_list.get(), out, order,
                                      accumulate ? Write::Accumulate : Write::Overwrite, context);
      });
}

}  // namespace
}  // namespace backslice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace backslice::fuzz;
  Input in(data, size);
  const auto what = in.within(0, 3);
  const SparseCase c = any_sparse_case(in);
  if (what == 0)
    fuzz_slice(in, c);
  else if (what == 1)
    fuzz_by_size(in, c);
  else
    fuzz_gradient(in, c);
  return 0;
}
