// Sparse slices as lists of rows: a model to compare with, and the cases to test.
#pragma once

#include <optional>

#include "backslice/sparse_slice.h"
#include "fuzz/naive_slice.h"
#include "fuzz/placed.h"

namespace backslice::fuzz {

using Row = std::vector<Wide>;
using Rows = std::vector<Row>;
inline constexpr std::int64_t kNone = -1;

struct SparseCase {
  int rank = 0;
  DType index_dtype = DType::Int64, dtype = DType::Float32;
  std::int64_t item_size = 0;
  std::vector<Numbers> rows;
  Numbers start, size, inner;  // inner: the shape of an entry's values
};

SparseCase any_sparse_case(Input& in);

// Makes mostly a few rows; rarely many repeated rows, enough to be divided among threads.
std::vector<Numbers> any_rows(Input& in, const SparseCase& c);

// Makes the rows of a slice: those in the window, some of the input's rows in their order or any other, or random ones.
std::vector<Numbers> any_output_rows(Input& in, const SparseCase& c);

Numbers values_shape(const SparseCase& c, std::int64_t rows);
Rows wide(const std::vector<Numbers>& rows);
Rows shifted(const Rows& rows, const Numbers& start);

// Returns the rows in the window.
Numbers window(const SparseCase& c);

// Returns for each input row its row of the slice, or kNone; nullopt if a row of the slice matches none.
using Matches = std::optional<Numbers>;
Matches in_order(const Rows& input, const Rows& wanted);
Matches any_order(const Rows& input, const Rows& wanted);

// Returns the gradient, element by element; `before` is added to, if given.
Values gradient(const SparseCase& c, const Numbers& found, const Values& grad, const Values* before);

}  // namespace backslice::fuzz
