// Ragged tensors as vectors of vectors: a model to compare with, and the parts from which both are made.
#pragma once

#include "backslice/ragged_variant.h"
#include "fuzz/must.h"
#include "fuzz/placed.h"

namespace backslice::fuzz {

// A row: rows again, or the elements of one row of the values.
struct Nested {
  std::vector<Nested> rows;
  Values elements;

  friend bool operator==(const Nested&, const Nested&) = default;
};

// The parts of a ragged tensor.
struct RaggedParts {
  DType dtype = DType::Float32, splits_dtype = DType::Int64;
  std::int64_t item_size = 0;
  Numbers values_shape;
  std::vector<Numbers> splits;
  Tensor values;
  std::vector<Tensor> split_tensors;
};

RaggedParts any_ragged_parts(Input& in);

// Returns whether the splits fit each other and the values.
bool is_valid(const RaggedParts& parts);

// Begins every fuzzer of ragged tensors: makes one from any parts, and calls run(parts, rt) if they fit.
template <class Run>
void with_any_ragged(Input& in, const Run& run) {
  const RaggedParts parts = any_ragged_parts(in);
  const auto rt = RaggedTensor::make(parts.values, parts.split_tensors);
  if (agree(rt.status(), is_valid(parts), "RaggedTensor::make")) run(parts, *rt);
}

// Makes a vector of integers.
Tensor tensor_of(Input& in, DType dtype, const Numbers& list);

// Makes one row for each position of the values' first axis.
std::vector<Nested> value_rows(const ConstView& values);
std::vector<Nested> zero_rows(const RaggedParts& parts, std::int64_t rows);

Nested nested(std::vector<Nested> rows, const std::vector<Numbers>& splits);
// Makes the rows from the library's form, through its splits.
Nested nested(const RaggedTensor& rt);

// Returns all elements in order, without their rows.
Values flattened(const Nested& row);

// Returns one row. For a dense tensor it is a tensor of one axis less, whose rows the model does not distinguish.
void check_row(const RaggedTensor& found, const Nested& expected, int ragged_rank, const std::string& what);

}  // namespace backslice::fuzz
