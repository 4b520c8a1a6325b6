// Runs the cases of the .json files here through the C++ operations, on the CPU and on a CUDA device.
// python/tests/test_conformance.py runs the same cases.
#include "backend.h"
#include "conformance/cases.h"

namespace backslice {
namespace {

using namespace conformance;
using testing::backend_under_test;

// Copies numbers to the operations' device and back.
Tensor placed(const Numbers& values, Ints shape) {
  return backend_under_test().upload(testing::tensor_of<std::int64_t>(values, shape));
}
Numbers numbers_of(const Tensor& tensor) {
  EXPECT_EQ(tensor.device(), backend_under_test().device());
  return testing::elements<std::int64_t>(backend_under_test().download(tensor));
}

TEST(Conformance, DenseSlices) {
  const json cases = cases_of("dense_slices.json");
  ASSERT_GT(cases.size(), 30u);
  for (const json& test : cases) {
    SCOPED_TRACE(test["name"].get<std::string>());
    const Numbers input_shape = test["input"]["shape"], values = test["input"]["values"];
    const Tensor input = placed(values, input_shape);
    const Result<Tensor> result = run(test, input);
    if (expects_error(test, result)) continue;
    EXPECT_THAT(Ints(result->shape()), ::testing::ElementsAreArray(test["result"]["shape"].get<Numbers>()));
    EXPECT_EQ(numbers_of(*result), test["result"]["values"].get<Numbers>());
  }
}

Numbers joined(const json& rows) {
  Numbers all;
  for (const json& row : rows) {
    for (std::int64_t index : row) all.push_back(index);
  }
  return all;
}

// Index rows and their memory.
struct IndexRows {
  explicit IndexRows(const json& rows)
      : memory(placed(joined(rows), {std::ssize(rows), rows.empty() ? 0 : std::ssize(rows[0])})),
        indices(CooIndices::from_matrix(memory).value()) {}
  Tensor memory;
  CooIndices indices;
};

Result<Tensor> run_sparse_gradient(const json& test, const ConstView& grad) {
  const json& args = test["args"];
  const IndexRows input(args["input_indices"]);
  if (test["op"] == "sparse_slice_grad_by_size") {
    return sparse_slice_grad_by_size(grad, input.indices, args["start"].get<Numbers>(), args["size"].get<Numbers>());
  }
  const MatchOrder order = args.value("order", "in_order") == "any" ? MatchOrder::Any : MatchOrder::InOrder;
  return sparse_slice_grad(grad, input.indices, args["input_start"].get<Numbers>(),
                           IndexRows(args["output_indices"]).indices, order);
}

// Runs both forms of a slice: a new tensor, and the caller's memory of the counted size.
void check_sparse_slice(const json& test, const ConstView& values) {
  const json& args = test["args"];
  const IndexRows input(args["indices"]);
  const Numbers shape = args["shape"], start = args["start"], size = args["size"];
  Result<SparseTensor> made = sparse_slice(input.indices, values, shape, start, size);
  const Result<std::int64_t> counted = sparse_slice_count(input.indices, start, size);
  const std::int64_t count = counted.ok() ? *counted : 0, rank = input.indices.rank();
  Tensor indices = placed(Numbers(static_cast<std::size_t>(count * rank)), {count, rank});
  Tensor kept = placed(Numbers(static_cast<std::size_t>(count)), {count});
  const Result<Shape> filled =
      sparse_slice_into(input.indices, values, shape, start, size, indices.view(), kept.view());
  EXPECT_EQ(filled.status().message(), made.status().message());
  if (expects_error(test, made) || expects_error(test, filled)) return;
  EXPECT_EQ(numbers_of(made->indices), joined(test["result"]["indices"]));
  EXPECT_EQ(numbers_of(made->values), test["result"]["values"].get<Numbers>());
  EXPECT_THAT(Ints(made->shape), ::testing::ElementsAreArray(test["result"]["shape"].get<Numbers>()));
  EXPECT_EQ(numbers_of(indices), numbers_of(made->indices));
  EXPECT_EQ(numbers_of(kept), numbers_of(made->values));
  EXPECT_EQ(*filled, made->shape);
}

void check_sparse_gradient(const json& test, const ConstView& grad) {
  const Result<Tensor> result = run_sparse_gradient(test, grad);
  if (expects_error(test, result)) return;
  EXPECT_EQ(numbers_of(*result), test["result"]["values"].get<Numbers>());
}

TEST(Conformance, SparseSlices) {
  const json cases = cases_of("sparse_slices.json");
  ASSERT_GT(cases.size(), 20u);
  for (const json& test : cases) {
    SCOPED_TRACE(test["name"].get<std::string>());
    const Numbers values = test["values"];
    const auto check = test["op"] == "sparse_slice" ? check_sparse_slice : check_sparse_gradient;
    const Tensor given = placed(values, {std::ssize(values)});
    check(test, given);
  }
}

Tensor values_of(const json& values) { return placed(values.get<Numbers>(), {std::ssize(values)}); }

// Row splits, which are always in the CPU's memory.
std::vector<Tensor> lists_of(const json& lists) {
  std::vector<Tensor> tensors;
  for (const json& list : lists) {
    tensors.push_back(testing::tensor_of<std::int64_t>(list.get<Numbers>(), {std::ssize(list)}));
  }
  return tensors;
}

VariantArray variants_of(const json& pieces) {
  std::vector<std::optional<RaggedTensor>> elements;
  for (const json& piece : pieces) {
    if (piece.is_null()) {
      elements.push_back(std::nullopt);
    } else if (piece.is_array()) {
      elements.push_back(RaggedTensor::make(values_of(piece), {}).value());
    } else {
      elements.push_back(RaggedTensor::make(values_of(piece["values"]), lists_of(piece["splits"])).value());
    }
  }
  const std::int64_t count = std::ssize(elements);
  return VariantArray::make(std::move(elements), {count}).value();
}

// The same into the caller's memory.
void expect_filled(const VariantArray& encoded, int input_rank, int output_rank, const RaggedTensor& expected) {
  const Context context = backend_under_test().context();
  const RaggedSize size = ragged_tensor_from_variant_size(encoded, input_rank, output_rank, {}, context).value();
  EXPECT_EQ(size.device, backend_under_test().device());
  Tensor values =
      Tensor::make(size.dtype, size.values, 0, Contents::Uninitialised, backend_under_test().allocator()).value();
  std::vector<Tensor> splits;
  RaggedView out{{}, values.view()};
  for (const std::int64_t length : size.splits) {
    splits.push_back(Tensor::make(size.splits_dtype, *Shape::make({length})).value());
    out.splits.push_back(splits.back().view());
  }
  const Status filled = ragged_tensor_from_variant_into(encoded, input_rank, output_rank, out, {}, context);
  ASSERT_TRUE(filled.ok()) << filled.to_string();
  EXPECT_TRUE(RaggedTensor::make(values, splits).value() == expected);
}

TEST(Conformance, RaggedVariants) {
  const json cases = cases_of("ragged_variants.json");
  ASSERT_GT(cases.size(), 20u);
  for (const json& test : cases) {
    SCOPED_TRACE(test["name"].get<std::string>());
    const VariantArray encoded = variants_of(test["pieces"]);
    const Context context = backend_under_test().context();  // determines the device of a result without pieces
    if (test["op"] == "gradient") {
      const Result<Tensor> result = ragged_tensor_to_variant_gradient(
          encoded, lists_of(test["row_splits"]), test["shape"].get<Numbers>(), DType::Int64, context);
      if (expects_error(test, result)) continue;
      EXPECT_THAT(Ints(result->shape()), ::testing::ElementsAreArray(test["result"]["shape"].get<Numbers>()));
      EXPECT_EQ(numbers_of(*result), test["result"]["values"].get<Numbers>());
      Tensor out = backend_under_test().upload(Tensor::make(DType::Int64, result->shape(), 0, Contents::Zero).value());
      const Status filled = ragged_tensor_to_variant_gradient_into(encoded, lists_of(test["row_splits"]),
                                                                   test["shape"].get<Numbers>(), out.view());
      EXPECT_TRUE(filled.ok()) << filled.to_string();
      EXPECT_EQ(numbers_of(out), test["result"]["values"].get<Numbers>());
    } else {
      const json& ranks = test["ranks"];
      const Result<RaggedTensor> result = ragged_tensor_from_variant(encoded, ranks[0], ranks[1], {}, context);
      if (expects_error(test, result)) continue;
      const json& splits = test["result"]["splits"];
      ASSERT_EQ(result->nested_row_splits().size(), splits.size());
      for (std::size_t level = 0; level < splits.size(); ++level) {
        EXPECT_EQ(testing::elements<std::int64_t>(result->nested_row_splits()[level]), splits[level].get<Numbers>());
      }
      EXPECT_EQ(numbers_of(result->values()), test["result"]["values"].get<Numbers>());
      expect_filled(encoded, ranks[0], ranks[1], *result);
    }
  }
}

}  // namespace
}  // namespace backslice
