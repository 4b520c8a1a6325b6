// Sparse slices as lists of rows: the model that the library's are compared with, and the cases they are given.
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
  Numbers start, size, inner;  // inner: the shape of one entry's values
};

SparseCase any_sparse_case(Input& in);

// A few rows mostly; rarely the same rows over and over, enough of them to be cut between threads.
std::vector<Numbers> any_rows(Input& in, const SparseCase& c);

// The rows of a slice: those in the window, or some of the input's in their order or any other, or anything.
std::vector<Numbers> any_output_rows(Input& in, const SparseCase& c);

Numbers values_shape(const SparseCase& c, std::int64_t rows);
Rows wide(const std::vector<Numbers>& rows);
Rows shifted(const Rows& rows, const Numbers& start);

// The rows in the window.
Numbers window(const SparseCase& c);

// For each input row the row of the slice that it is, or kNone; nothing where a row of the slice is none of them.
using Matches = std::optional<Numbers>;
Matches in_order(const Rows& input, const Rows& wanted);
Matches any_order(const Rows& input, const Rows& wanted);

// The gradient, element by element; `before` is what is added to, if anything is.
Values gradient(const SparseCase& c, const Numbers& found, const Values& grad, const Values* before);

}  // namespace backslice::fuzz
