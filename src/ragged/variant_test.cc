#include <limits>

#include "backslice/ragged_variant.h"
#include "ragged_tensors.h"

namespace backslice {
namespace {

using namespace testing;

std::vector<std::int64_t> splits_at(const RaggedTensor& rt, int level) {
  std::vector<std::int64_t> list;
  for (std::int64_t i = 0; i < rt.nested_row_splits()[static_cast<std::size_t>(level)].shape()[0]; ++i) {
    list.push_back(rt.split(level, i));
  }
  return list;
}

using Elements = std::vector<std::optional<RaggedTensor>>;

std::optional<RaggedTensor> dense(const std::vector<float>& values) {
  return RaggedTensor::make(vector_of(values), {}).value();
}

VariantArray array(const Elements& elements) { return VariantArray::make(elements, {std::ssize(elements)}).value(); }

template <class R>
std::string message(const R& result) {
  return result.status().message();
}

TEST(RaggedTensor, IsCheckedWhenMade) {
  const Tensor v = vector_of({1, 2, 3});
  const auto refusal = [&](std::vector<Tensor> splits) { return message(RaggedTensor::make(v, std::move(splits))); };
  EXPECT_THAT(refusal({tensor_of<std::int64_t>({0, 3}, {1, 2})}), HasSubstr("must be a vector"));
  EXPECT_THAT(refusal({splits_of({})}), HasSubstr("empty"));
  EXPECT_THAT(refusal({splits_of({1, 3})}), HasSubstr("must be 0"));
  EXPECT_THAT(refusal({splits_of({0, 3, 1, 3})}),
              HasSubstr("nested_row_splits[0][2] is 1, smaller than the item before it, which is 3"));
  EXPECT_THAT(refusal({splits_of({0, 2})}), HasSubstr("nested_row_splits[0] is for 2 values, but there are 3"));
  EXPECT_THAT(refusal({splits_of({0, 2}), splits_of({0, 3})}),
              HasSubstr("nested_row_splits[0] is for 2 rows of the next list, which has 1"));
  EXPECT_THAT(refusal({splits_of<std::int32_t>({0, 1}), splits_of({0, 3})}), HasSubstr("int64"));
  EXPECT_THAT(refusal({v}), HasSubstr("float32"));
  EXPECT_THAT(message(RaggedTensor::make(tensor_of({1}, {}), {splits_of({0})})), HasSubstr("scalar"));
  EXPECT_TRUE(RaggedTensor::make(tensor_of({1}, {}), {}).ok());
}

TEST(RaggedTensor, LengthsAndEquality) {
  const Tensor v = vector_of({1, 2, 3});
  const auto make = [&](const std::vector<std::int64_t>& lengths) {
    return RaggedTensor::from_row_lengths(v, {splits_of(lengths)});
  };
  EXPECT_TRUE(make({2, 0, 1}).value() == ragged({1, 2, 3}, {{0, 2, 2, 3}}));
  EXPECT_FALSE(make({2, 1, 0}).value() == ragged({1, 2, 3}, {{0, 2, 2, 3}}));
  EXPECT_FALSE(make({2, 0, 1}).value() == ragged({1, 2, 4}, {{0, 2, 2, 3}}));
  EXPECT_THAT(message(make({4, -1})), HasSubstr("nested_row_lengths[0][1] is -1"));
  EXPECT_THAT(message(make({4})), HasSubstr("is for 4 values, but there are 3"));
}

TEST(RaggedTensor, RowsAndSlices) {
  const RaggedTensor rt = ragged({1, 2, 3, 4, 5, 6}, {{0, 1, 3}, {0, 2, 2, 6}});  // [[[1,2]], [[],[3,4,5,6]]]
  const RaggedTensor row = rt.row(1).value();
  EXPECT_EQ(row.ragged_rank(), 1);
  EXPECT_THAT(splits_at(row, 0), ElementsAre(0, 0, 4));
  EXPECT_THAT(values_of(row), ElementsAre(3, 4, 5, 6));
  const RaggedTensor one = ragged({1, 2, 3, 4, 5, 6}, {{0, 2, 2, 5, 6}});
  for (const char* index : {"1:3", "::2", "::-1", "3:0:-2", "2:2"}) {
    const Selection rows = Selection::from_index({4}, index).value();
    const RaggedTensor s = ragged_slice(rows, one).value();
    std::vector<float> expected_gradient(6, 0), expected;
    float k = 1;
    for (std::int64_t i = 0; i < rows.axis(0).count; ++i) {
      const std::int64_t row_number = rows.axis(0).start + i * rows.axis(0).step;
      for (std::int64_t j = one.split(0, row_number); j < one.split(0, row_number + 1); ++j) {
        expected.push_back(static_cast<float>(j + 1));
        expected_gradient[static_cast<std::size_t>(j)] = k++;
      }
    }
    EXPECT_EQ(values_of(s), expected) << index;
    const auto grad = counting<float>(std::ssize(expected));
    EXPECT_EQ(elements<float>(ragged_slice_grad(rows, one, view_of(grad, {std::ssize(grad)})).value()),
              expected_gradient)
        << index;
  }
}

TEST(RaggedToVariant, RowsAreViewsOfTheBatch) {
  const RaggedTensor rt = ragged({1, 2, 3, 4, 5}, {{0, 2, 2, 5}});
  const VariantArray v = ragged_tensor_to_variant(rt).value();
  EXPECT_THAT(Ints(v.shape()), ElementsAre(3));
  EXPECT_EQ(values_of(**v.at(1)), std::vector<float>());
  EXPECT_EQ(values_of(**v.at(2)), (std::vector<float>{3, 4, 5}));
  const RaggedTensor last = *v.at(2).value();
  EXPECT_EQ(last.values().data(), rt.values().data() + 8);
  EXPECT_EQ(ragged_tensor_to_variant(rt, false).value().shape().rank(), 0);
  EXPECT_THAT(message(ragged_tensor_to_variant(RaggedTensor::make(tensor_of({1}, {}), {}).value())),
              HasSubstr("rt is a scalar, which has no rows to encode"));
  const VariantArray rows =
      ragged_tensor_to_variant(RaggedTensor::make(tensor_of({1, 2, 3, 4}, {2, 2}), {}).value()).value();
  EXPECT_EQ(values_of(**rows.at(1)), (std::vector<float>{3, 4}));
}

TEST(RaggedFromVariant, PutsRowsTogether) {
  const RaggedTensor rt = ragged({1, 2, 3, 4, 5, 6}, {{0, 1, 3}, {0, 2, 2, 6}});
  const VariantArray v = ragged_tensor_to_variant(rt).value();
  const RaggedTensor back = ragged_tensor_from_variant(v, 1, 2).value();
  EXPECT_EQ(back.values().view().data, rt.values().view().data);  // the same memory
  EXPECT_THAT(splits_at(back, 0), ElementsAre(0, 1, 3));
  // Rows one by one, in another order and in other memory.
  const RaggedTensor mixed = ragged_tensor_from_variant(array({*v.at(1), *v.at(0)}), -1, 2).value();
  EXPECT_THAT(splits_at(mixed, 0), ElementsAre(0, 2, 3));
  EXPECT_THAT(splits_at(mixed, 1), ElementsAre(0, 0, 4, 6));
  EXPECT_THAT(values_of(mixed), ElementsAre(3, 4, 5, 6, 1, 2));
  const VariantArray square = array({dense({1}), dense({2, 3}), dense({}), dense({4})}).reshape({2, 2}).value();
  const RaggedTensor deep = ragged_tensor_from_variant(square, 0, 2).value();
  EXPECT_THAT(splits_at(deep, 0), ElementsAre(0, 2, 4));
  EXPECT_THAT(splits_at(deep, 1), ElementsAre(0, 1, 3, 3, 4));
  const RaggedTensor stacked = ragged_tensor_from_variant(array({dense({1, 2}), dense({3, 4})}), 0, 0).value();
  EXPECT_THAT(Ints(stacked.values().shape()), ElementsAre(2, 2));
  const RaggedTensor nothing = ragged_tensor_from_variant(array({}), 1, 2, {.values = DType::Float32}).value();
  EXPECT_THAT(splits_at(nothing, 1), ElementsAre(0));
  EXPECT_THAT(Ints(nothing.values().shape()), ElementsAre(0));
}

TEST(RaggedFromVariant, RefusesAndNamesTheElement) {
  const VariantArray good = array({dense({1}), dense({2})});
  EXPECT_THAT(message(ragged_tensor_from_variant(good, 0, 2)), HasSubstr("must be equal to"));
  EXPECT_THAT(message(ragged_tensor_from_variant(good, 1, 2)), HasSubstr("element 0 of encoded has ragged rank 0"));
  EXPECT_THAT(message(ragged_tensor_from_variant(array({dense({1}), std::nullopt}), 0, 1)),
              HasSubstr("element 1 of encoded is missing"));
  const auto number = RaggedTensor::make(tensor_of<std::int32_t>({1}, {1}), {}).value();
  EXPECT_THAT(message(ragged_tensor_from_variant(array({dense({1}), number}), 0, 1)), HasSubstr("element 1"));
  const auto wide = RaggedTensor::make(tensor_of({1, 2}, {1, 2}), {}).value();
  EXPECT_THAT(message(ragged_tensor_from_variant(array({dense({}), wide}), 0, 1)), HasSubstr("element 1"));
  const auto scalar = RaggedTensor::make(tensor_of({1}, {}), {}).value();
  EXPECT_THAT(message(ragged_tensor_from_variant(array({scalar}), 0, 1)), HasSubstr("scalar"));
  EXPECT_THAT(message(ragged_tensor_from_variant(array({dense({1}), dense({1, 2})}), 0, 0)), HasSubstr("equal shapes"));
  EXPECT_THAT(message(ragged_tensor_from_variant(array({}), 0, 1)), HasSubstr("types.values"));
}

TEST(RaggedToVariantGradient, WorkedExample) {
  // values 1..6, loss = sum of squares over rows 0 and 2
  const auto out = ragged_tensor_to_variant_gradient(
      array({dense({2, 4}), std::nullopt, dense({6, 8, 10}), std::nullopt}), {splits_of({0, 2, 2, 5, 6})}, {6});
  ASSERT_TRUE(out.ok()) << message(out);
  EXPECT_EQ(elements<float>(*out), (std::vector<float>{2, 4, 6, 8, 10, 0}));
}

// Where a tensor begins whose memory the test holds, too.
const std::byte* address_in_gradient(const Tensor& tensor) { return tensor.data(); }

TEST(RaggedToVariantGradient, NeighboursAreNotCopied) {
  const RaggedTensor rt = ragged({1, 2, 3, 4, 5}, {{0, 2, 2, 5}});
  const VariantArray v = ragged_tensor_to_variant(rt).value();
  const std::vector<Tensor>& splits = rt.nested_row_splits();
  EXPECT_EQ(address_in_gradient(ragged_tensor_to_variant_gradient(v, splits, {5}).value()), rt.values().view().data);
  const VariantArray listed = array({*v.at(0), *v.at(1), *v.at(2)});
  EXPECT_EQ(address_in_gradient(ragged_tensor_to_variant_gradient(listed, splits, {5}).value()),
            rt.values().view().data);
  const VariantArray turned = array({*v.at(2), *v.at(0)});
  Tensor out = ragged_tensor_to_variant_gradient(turned, {splits_of({0, 3, 5})}, {5}).value();
  EXPECT_THAT(elements<float>(out), ElementsAre(3, 4, 5, 1, 2));
}

TEST(RaggedToVariantGradient, AllNestedSplitsSizeMissingPieces) {
  // rows of 3 and 1 values: [[[1,2],[3]], [[4]]]
  const std::vector<Tensor> splits = {splits_of({0, 2, 3}), splits_of({0, 2, 3, 4})};
  const VariantArray v = array({std::nullopt, ragged({9}, {{0, 1}})});
  EXPECT_THAT(elements<float>(ragged_tensor_to_variant_gradient(v, splits, {4}).value()), ElementsAre(0, 0, 0, 9));
  EXPECT_THAT(message(ragged_tensor_to_variant_gradient(v, {splits[0]}, {4})), HasSubstr("3 elements in all"));
  EXPECT_THAT(message(ragged_tensor_to_variant_gradient(v, splits, {5})), HasSubstr("ends at 4"));
}

TEST(RaggedToVariantGradient, WhatTensorFlowDoesNotCheck) {
  const VariantArray v = array({dense({1, 2}), std::nullopt});
  const auto refusal = [&](const Tensor& splits, Ints shape, std::optional<DType> dtype = {}) {
    return message(ragged_tensor_to_variant_gradient(v, {splits}, shape, dtype));
  };
  EXPECT_THAT(refusal(splits_of({0, 2, 3}), {-3}), HasSubstr("must be >= 0"));
  EXPECT_THAT(refusal(splits_of({0, 2, 3}), {std::int64_t{1} << 40, std::int64_t{1} << 40}), HasSubstr("2**63"));
  EXPECT_THAT(refusal(splits_of({1, 2, 3}), {3}), HasSubstr("must be 0"));
  EXPECT_THAT(refusal(splits_of({0, 3, 2}), {3}), HasSubstr("smaller"));
  EXPECT_THAT(refusal(splits_of({}), {3}), HasSubstr("empty"));
  EXPECT_THAT(refusal(tensor_of<std::int64_t>({0, 2, 3, 4}, {2, 2}), {3}), HasSubstr("vector"));
  EXPECT_THAT(refusal(splits_of({0, 2}), {2}), HasSubstr("for 1 row, but there are 2 pieces"));
  EXPECT_THAT(refusal(tensor_of<std::int64_t>({0}, {}), {2}), HasSubstr("scalar"));
  EXPECT_THAT(refusal(splits_of({0, 2, 3}), {4}), HasSubstr("3 elements in all"));
  EXPECT_THAT(
      refusal(splits_of({0, 2, 9}), {3}),
      HasSubstr("row_splits give 7 elements to piece 1, which is missing, but the pieces before it leave 1 of the 3"));
  const auto second = [&](const Tensor& splits) {
    const VariantArray last = array({std::nullopt, dense({1, 2})});
    return ragged_tensor_to_variant_gradient(last, {splits}, {3});
  };
  EXPECT_TRUE(second(splits_of({0, 1, 3})).ok());
  EXPECT_THAT(message(second(splits_of({0, 2, 4}))),
              HasSubstr("piece 1 has 2 elements, but the pieces before it leave 1 of the 3 elements of "
                        "dense_values_shape [3]; row_splits give 2 of theirs to missing pieces"));
  EXPECT_EQ(second(splits_of({0, 2, 4})).status().argument(), "");
  EXPECT_THAT(refusal(splits_of({0, 2, std::int64_t{1} << 62}), {1, 4}), HasSubstr("more than 2**63 - 1"));
  EXPECT_THAT(refusal(splits_of({0, 2, 3}), {3}, DType::Int32), HasSubstr("piece 0 has dtype float32"));
  const VariantArray one = array({dense({1, 2})});
  EXPECT_FALSE(ragged_tensor_to_variant_gradient(one, {splits_of({0, 2})}, {3}).ok());
  EXPECT_THAT(Ints(ragged_tensor_to_variant_gradient(one, {splits_of({0, 2})}, {2, 1}).value().shape()),
              ElementsAre(2, 1));
  EXPECT_FALSE(ragged_tensor_to_variant_gradient(array({std::nullopt}), {splits_of({0, 2})}, {2}).ok());
  EXPECT_THAT(
      elements<float>(
          ragged_tensor_to_variant_gradient(array({std::nullopt}), {splits_of({0, 2})}, {2}, DType::Float32).value()),
      ElementsAre(0, 0));
  EXPECT_THAT(
      Ints(ragged_tensor_to_variant_gradient(array({}), {splits_of({0})}, {0, 3}, DType::Float32).value().shape()),
      ElementsAre(0, 3));
}

TEST(RaggedToVariantGradient, MissingStringsAreEmpty) {
  const auto words =
      RaggedTensor::make(tensor_of<std::string>({"some long word that needs memory", "b"}, {2}), {}).value();
  EXPECT_THAT(elements<std::string>(
                  ragged_tensor_to_variant_gradient(array({std::nullopt, words}), {splits_of({0, 1, 3})}, {3}).value()),
              ElementsAre("", "some long word that needs memory", "b"));
}

TEST(RaggedFromVariantGradient, EncodesAgain) {
  const VariantArray v = array({dense({1}), dense({2, 3}), dense({}), dense({4})}).reshape({2, 2}).value();
  const RaggedTensor decoded = ragged_tensor_from_variant(v, 0, 2).value();
  const RaggedTensor gradient = RaggedTensor::make(vector_of({5, 6, 7, 8}), decoded.nested_row_splits()).value();
  const VariantArray back = ragged_tensor_from_variant_gradient(gradient, {2, 2}).value();
  EXPECT_THAT(Ints(back.shape()), ElementsAre(2, 2));
  EXPECT_EQ(values_of(**back.at(1)), (std::vector<float>{6, 7}));
  EXPECT_EQ(values_of(**back.at(3)), (std::vector<float>{8}));
}

TEST(RaggedVariants, ManyPiecesOnManyThreads) {
  std::mt19937 random(1);
  const auto pool = make_thread_executor(3);
  const Context context{.executor = pool.get()};
  std::vector<std::int64_t> lengths(5000), splits = {0};
  for (auto& n : lengths) splits.push_back(splits.back() + (n = static_cast<std::int64_t>(random() % 120)));
  lengths[17] = 0;
  Elements elements;
  std::vector<float> expected;
  float k = 0;
  splits = {0};
  for (std::int64_t n : lengths) {
    splits.push_back(splits.back() + n);
    std::vector<float> piece;
    const bool missing = random() % 2 == 0;
    for (std::int64_t i = 0; i < n; ++i) piece.push_back(missing ? 0 : ++k);
    expected.insert(expected.end(), piece.begin(), piece.end());
    elements.push_back(missing ? std::nullopt : dense(piece));
  }
  auto out =
      ragged_tensor_to_variant_gradient(array(elements), {splits_of(splits)}, {std::ssize(expected)}, {}, context);
  EXPECT_EQ(::backslice::testing::elements<float>(out.value()), expected);
}

constexpr std::int64_t kHuge = std::int64_t{1} << 40;

TEST(RaggedToVariantGradient, RowsWhoseSizeOverflowsAreRefused) {
  const VariantArray v = array({std::nullopt, dense({1, 2})});
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(is_error(ragged_tensor_to_variant_gradient(v, {splits_of({0, 1, 3})}, {0, 2, kMost}), kInvalid,
                       "piece 0 is missing", "more than 2**63 - 1"));
  EXPECT_TRUE(is_error(ragged_tensor_to_variant_gradient(v, {splits_of({0, 1, 3})}, {0, kHuge, kHuge}), kInvalid));
  EXPECT_TRUE(is_error(ragged_tensor_to_variant_gradient(v, {splits_of({0, kMost, kMost})}, {4, 2}), kInvalid));
  EXPECT_TRUE(is_error(ragged_tensor_to_variant_gradient(array({std::nullopt}), {splits_of({0, kMost / 2})},
                                                         {kMost / 2}, DType::Float64),
                       StatusCode::ResourceExhausted, "more than 2**63 - 1 bytes"));
}

TEST(RaggedToVariantGradient, HugeRowsOfWhichThereAreNoneAreLegal) {
  auto out = ragged_tensor_to_variant_gradient(array({std::nullopt, std::nullopt}), {splits_of({0, 0, 0})},
                                               {0, kHuge, kHuge}, DType::Float32);
  EXPECT_THAT(Ints(out.value().shape()), ElementsAre(0, kHuge, kHuge));
}

TEST(RaggedToVariantGradient, KeepsTheSizeOfItems) {
  auto out =
      ragged_tensor_to_variant_gradient(array({std::nullopt}), {splits_of({0, 3})}, {3}, ValuesType{DType::Bytes, 64});
  EXPECT_EQ(out.value().view().layout.item_size, 64);
  EXPECT_EQ(out.value().view().layout.strides[0], 64);
  const auto items = Tensor::make(DType::Bytes, *Shape::make({1}), 3).value();
  const VariantArray three = VariantArray::make({RaggedTensor::make(items, {}).value()}, {1}).value();
  EXPECT_TRUE(is_error(ragged_tensor_to_variant_gradient(three, {splits_of({0, 1})}, {1}, ValuesType{DType::Bytes, 64}),
                       kInvalid, "items of 3 bytes, expected 64"));
  EXPECT_TRUE(is_error(ragged_tensor_from_variant(three, 0, 1, {.values = ValuesType{DType::Bytes, 64}}), kInvalid,
                       "3 bytes, expected 64"));
}

TEST(RaggedFromVariant, RefusesMoreRowsThanCanBeCounted) {
  const Tensor flat = Tensor::make(DType::Int8, *Shape::make({std::int64_t{1} << 62, 0})).value();
  const RaggedTensor half = RaggedTensor::make(flat, {}).value();
  EXPECT_TRUE(is_error(ragged_tensor_from_variant(array({half, half}), 0, 1), kInvalid, "at element 1"));
  EXPECT_TRUE(is_error(ragged_tensor_from_variant(VariantArray::rows_of(half), 0, 1), StatusCode::ResourceExhausted));
  EXPECT_EQ(ragged_tensor_from_variant(VariantArray::rows_of(half), 0, 0).value().rows(), half.rows());
  EXPECT_TRUE(is_error(ragged_tensor_from_variant(array({}), 2147483646, 2147483647, {.values = DType::Int8}), kInvalid,
                       "at most 1000"));
}

TEST(VariantArray, RefusesElementsThatAreNotThere) {
  const VariantArray rows = VariantArray::rows_of(ragged({1, 2}, {{0, 1, 2}}));
  for (const VariantArray& v : {rows, array({dense({1}), std::nullopt})}) {
    EXPECT_TRUE(is_error(v.at(2), StatusCode::OutOfRange, "element 2", "2 elements"));
    EXPECT_TRUE(is_error(v.at(-1), StatusCode::OutOfRange));
  }
}

}  // namespace
}  // namespace backslice
