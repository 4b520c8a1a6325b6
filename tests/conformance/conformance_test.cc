// Runs the cases of the .json files here through the C++ operations; python/tests/test_conformance.py runs the same.
#include "conformance/cases.h"

namespace backslice {
namespace {

using namespace conformance;

TEST(Conformance, DenseSlices) {
  const json cases = cases_of("dense_slices.json");
  ASSERT_GT(cases.size(), 30u);
  for (const json& test : cases) {
    SCOPED_TRACE(test["name"].get<std::string>());
    const Numbers input_shape = test["input"]["shape"], values = test["input"]["values"];
    Result<Tensor> result = run(test, testing::view_of(values, input_shape));
    if (expects_error(test, result)) continue;
    EXPECT_THAT(Ints(result->shape()), ::testing::ElementsAreArray(test["result"]["shape"].get<Numbers>()));
    EXPECT_EQ(testing::elements<std::int64_t>(*result), test["result"]["values"].get<Numbers>());
  }
}

// Index rows and the memory they lie in.
struct IndexRows {
  explicit IndexRows(const json& rows) {
    for (const json& row : rows) {
      for (std::int64_t index : row) memory.push_back(index);
    }
    const auto count = static_cast<std::int64_t>(rows.size());
    indices = CooIndices::from_matrix(testing::view_of(memory, {count, count == 0 ? 0 : std::ssize(rows[0])})).value();
  }
  Numbers memory;
  CooIndices indices = CooIndices::from_matrix(*ConstView::contiguous(nullptr, DType::Int64, {0, 0})).value();
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

// A slice in both forms: as a new tensor, and into memory of the counted size.
void check_sparse_slice(const json& test, const ConstView& values) {
  const json& args = test["args"];
  const IndexRows input(args["indices"]);
  const Numbers shape = args["shape"], start = args["start"], size = args["size"];
  Result<SparseTensor> made = sparse_slice(input.indices, values, shape, start, size);
  const Result<std::int64_t> counted = sparse_slice_count(input.indices, start, size);
  const std::int64_t count = counted.ok() ? *counted : 0;
  Numbers indices(static_cast<std::size_t>(count * input.indices.rank())), kept(static_cast<std::size_t>(count));
  const Result<Shape> filled =
      sparse_slice_into(input.indices, values, shape, start, size,
                        testing::view_of(indices, {count, input.indices.rank()}), testing::view_of(kept, {count}));
  EXPECT_EQ(filled.status().message(), made.status().message());
  if (expects_error(test, made) || expects_error(test, filled)) return;
  EXPECT_EQ(testing::elements<std::int64_t>(made->indices), IndexRows(test["result"]["indices"]).memory);
  EXPECT_EQ(testing::elements<std::int64_t>(made->values), test["result"]["values"].get<Numbers>());
  EXPECT_THAT(Ints(made->shape), ::testing::ElementsAreArray(test["result"]["shape"].get<Numbers>()));
  EXPECT_EQ(indices, testing::elements<std::int64_t>(made->indices));
  EXPECT_EQ(kept, testing::elements<std::int64_t>(made->values));
  EXPECT_EQ(*filled, made->shape);
}

void check_sparse_gradient(const json& test, const ConstView& grad) {
  Result<Tensor> result = run_sparse_gradient(test, grad);
  if (expects_error(test, result)) return;
  EXPECT_EQ(testing::elements<std::int64_t>(*result), test["result"]["values"].get<Numbers>());
}

TEST(Conformance, SparseSlices) {
  const json cases = cases_of("sparse_slices.json");
  ASSERT_GT(cases.size(), 20u);
  for (const json& test : cases) {
    SCOPED_TRACE(test["name"].get<std::string>());
    const Numbers values = test["values"];
    const auto check = test["op"] == "sparse_slice" ? check_sparse_slice : check_sparse_gradient;
    check(test, testing::view_of(values, {std::ssize(values)}));
  }
}

Tensor tensor_of(const Numbers& values) { return testing::tensor_of<std::int64_t>(values, {std::ssize(values)}); }

std::vector<Tensor> lists_of(const json& lists) {
  std::vector<Tensor> tensors;
  for (const json& list : lists) tensors.push_back(tensor_of(list.get<Numbers>()));
  return tensors;
}

VariantArray variants_of(const json& pieces) {
  std::vector<std::optional<RaggedTensor>> elements;
  for (const json& piece : pieces) {
    if (piece.is_null()) {
      elements.push_back(std::nullopt);
    } else if (piece.is_array()) {
      elements.push_back(RaggedTensor::make(tensor_of(piece), {}).value());
    } else {
      elements.push_back(RaggedTensor::make(tensor_of(piece["values"]), lists_of(piece["splits"])).value());
    }
  }
  const std::int64_t count = std::ssize(elements);
  return VariantArray::make(std::move(elements), {count}).value();
}

// The same in memory of the caller's.
void expect_filled(const VariantArray& encoded, int input_rank, int output_rank, const RaggedTensor& expected) {
  const RaggedSize size = ragged_tensor_from_variant_size(encoded, input_rank, output_rank).value();
  Tensor values = Tensor::make(size.dtype, size.values).value();
  std::vector<Tensor> splits;
  RaggedView out{{}, values.view()};
  for (const std::int64_t length : size.splits) {
    splits.push_back(Tensor::make(size.splits_dtype, *Shape::make({length})).value());
    out.splits.push_back(splits.back().view());
  }
  const Status filled = ragged_tensor_from_variant_into(encoded, input_rank, output_rank, out);
  ASSERT_TRUE(filled.ok()) << filled.to_string();
  EXPECT_TRUE(RaggedTensor::make(values, splits).value() == expected);
}

TEST(Conformance, RaggedVariants) {
  const json cases = cases_of("ragged_variants.json");
  ASSERT_GT(cases.size(), 20u);
  for (const json& test : cases) {
    SCOPED_TRACE(test["name"].get<std::string>());
    const VariantArray encoded = variants_of(test["pieces"]);
    if (test["op"] == "gradient") {
      Result<Tensor> result = ragged_tensor_to_variant_gradient(encoded, lists_of(test["row_splits"]),
                                                                test["shape"].get<Numbers>(), DType::Int64);
      if (expects_error(test, result)) continue;
      EXPECT_THAT(Ints(result->shape()), ::testing::ElementsAreArray(test["result"]["shape"].get<Numbers>()));
      EXPECT_EQ(testing::elements<std::int64_t>(*result), test["result"]["values"].get<Numbers>());
      Tensor out = Tensor::make(DType::Int64, result->shape()).value();
      const Status filled = ragged_tensor_to_variant_gradient_into(encoded, lists_of(test["row_splits"]),
                                                                   test["shape"].get<Numbers>(), out.view());
      EXPECT_TRUE(filled.ok()) << filled.to_string();
      EXPECT_EQ(testing::elements<std::int64_t>(out), test["result"]["values"].get<Numbers>());
    } else {
      const json& ranks = test["ranks"];
      Result<RaggedTensor> result = ragged_tensor_from_variant(encoded, ranks[0], ranks[1]);
      if (expects_error(test, result)) continue;
      const json& splits = test["result"]["splits"];
      ASSERT_EQ(result->nested_row_splits().size(), splits.size());
      for (std::size_t level = 0; level < splits.size(); ++level) {
        EXPECT_EQ(testing::elements<std::int64_t>(result->nested_row_splits()[level]), splits[level].get<Numbers>());
      }
      EXPECT_EQ(testing::elements<std::int64_t>(result->values()), test["result"]["values"].get<Numbers>());
      expect_filled(encoded, ranks[0], ranks[1], *result);
    }
  }
}

}  // namespace
}  // namespace backslice
