// Sparse slices and their gradients by their definition, to compare the fast ones with.
#pragma once

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backslice/sparse_slice.h"
#include "testing.h"

namespace backslice::testing {

using Row = std::vector<std::int64_t>;
using Rows = std::vector<Row>;

// Index rows in memory, as a matrix or as columns, of either type.
template <class Index = std::int64_t>
struct List {
  List(const Rows& rows, int rank) : rank(rank), count(static_cast<std::int64_t>(rows.size())) {
    for (const Row& row : rows) {
      for (std::int64_t index : row) matrix.push_back(static_cast<Index>(index));
    }
    for (int axis = 0; axis < rank; ++axis) {
      for (const Row& row : rows) by_column.push_back(static_cast<Index>(row[static_cast<std::size_t>(axis)]));
    }
  }

  CooIndices indices() const { return CooIndices::from_matrix(view_of(matrix, {count, rank})).value(); }
  CooIndices columns() const {
    std::vector<ConstView> views;
    for (int axis = 0; axis < rank; ++axis) {
      views.push_back(ConstView::contiguous(by_column.data() + axis * count, dtype_of<Index>, {count}).value());
    }
    return CooIndices::from_columns(views).value();
  }

  int rank;
  std::int64_t count;
  std::vector<Index> matrix, by_column;
};

// The rule as TensorFlow documents it: j walks the slice's rows while i walks the input's.
struct Truth {
  std::vector<float> gradient;
  std::int64_t used = 0;
};

inline bool matches(const Row& input, const Row& start, const Row& output) {
  for (std::size_t axis = 0; axis < input.size(); ++axis) {
    if (__int128{output[axis]} + start[axis] != input[axis]) return false;
  }
  return true;
}

inline Truth in_order(const std::vector<float>& grad, const Rows& input, const Row& start, const Rows& output) {
  Truth truth;
  for (const Row& row : input) {
    const auto j = static_cast<std::size_t>(truth.used);
    const bool match = j < output.size() && matches(row, start, output[j]);
    truth.gradient.push_back(match ? grad[j] : 0);
    truth.used += match;
  }
  return truth;
}

inline Truth in_any_order(const std::vector<float>& grad, const Rows& input, const Row& start, const Rows& output) {
  Truth truth;
  std::vector<bool> taken(output.size(), false);
  for (const Row& row : input) {
    float value = 0;
    for (std::size_t j = 0; j < output.size(); ++j) {
      if (taken[j] || !matches(row, start, output[j])) continue;
      taken[j] = true;
      value = grad[j];
      ++truth.used;
      break;
    }
    truth.gradient.push_back(value);
  }
  return truth;
}

// `slice` of the entries, by the definition; their numbers too.
inline Rows window(const Rows& input, const Row& start, const Row& size, std::vector<std::size_t>* kept = nullptr) {
  Rows rows;
  for (std::size_t i = 0; i < input.size(); ++i) {
    Row shifted;
    for (std::size_t axis = 0; axis < start.size(); ++axis) {
      const __int128 index = __int128{input[i][axis]} - start[axis];
      if (index >= 0 && index < size[axis]) shifted.push_back(static_cast<std::int64_t>(index));
    }
    if (shifted.size() != start.size()) continue;
    rows.push_back(shifted);
    if (kept != nullptr) kept->push_back(i);
  }
  return rows;
}

inline Rows random_rows(std::mt19937& random, std::int64_t count, int rank, int extent, bool sorted) {
  Rows rows(static_cast<std::size_t>(count), Row(static_cast<std::size_t>(rank)));
  for (Row& row : rows) {
    for (std::int64_t& index : row) index = static_cast<std::int64_t>(random() % static_cast<unsigned>(extent));
  }
  if (sorted) std::sort(rows.begin(), rows.end());
  return rows;
}

// The rows of a sparse tensor, and the rows of a slice of it.
struct SparseCase {
  Rows input, output;
  Row start, size;
  int rank;
};

// Random rows, and the beginning of a window; its size and the slice are still to be filled in.
inline SparseCase random_input(std::mt19937& random, std::int64_t count, int rank, int extent) {
  SparseCase made{random_rows(random, count, rank, extent, random() % 2 == 0), {}, {}, {}, rank};
  made.start.resize(static_cast<std::size_t>(rank));
  made.size = made.start;
  for (auto& s : made.start) s = static_cast<int>(random() % 4) - 1;
  return made;
}

inline void expect_gradient(const Truth& truth, std::size_t rows, Result<Tensor> result) {
  if (truth.used < static_cast<std::int64_t>(rows)) {
    ASSERT_EQ(result.status().code(), StatusCode::Internal);
    EXPECT_THAT(result.status().message(), HasSubstr("used: " + std::to_string(truth.used)));
  } else {
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(elements<float>(*result), truth.gradient);
  }
}

}  // namespace backslice::testing
