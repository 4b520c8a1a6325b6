// Ragged tensors written into the caller's memory: equal to new tensors, and nothing is written on failure.
#include <deque>
#include <limits>

#include "backslice/ragged_variant.h"
#include "gaps.h"
#include "ragged_tensors.h"

namespace backslice {
namespace {

using namespace testing;

// Filled memory for a result, with splits of T.
template <class T, class Values = float>
struct Filled {
  template <class Fill>
  Filled(const RaggedSize& size, const Fill& fill) : values(size.values, Values()) {
    RaggedView out{{}, values.view};
    for (const std::int64_t length : size.splits) splits.emplace_back(Ints(&length, 1), T(-1));
    for (const auto& list : splits) out.splits.push_back(list.view);
    status = fill(out);
  }
  std::deque<Gaps<T>> splits;  // that views point into
  Gaps<Values> values;
  Status status;
};

template <class T, class Values = float, class Fill>
void expect_filled_as(const RaggedTensor& expected, const RaggedSize& size, const Fill& fill) {
  EXPECT_EQ(size.values, expected.values().shape());
  EXPECT_EQ(size.dtype, expected.dtype());
  ASSERT_EQ(std::ssize(size.splits), expected.ragged_rank());
  const Filled<T, Values> filled(size, fill);
  ASSERT_TRUE(filled.status.ok()) << filled.status.to_string();
  EXPECT_EQ(filled.values.elements(), values_of<Values>(expected));
  for (int level = 0; level < expected.ragged_rank(); ++level) {
    const std::vector<T> list = filled.splits[static_cast<std::size_t>(level)].elements();
    ASSERT_EQ(std::ssize(list), expected.nested_row_splits()[static_cast<std::size_t>(level)].shape()[0]);
    for (std::size_t i = 0; i < list.size(); ++i) EXPECT_EQ(list[i], expected.split(level, static_cast<int>(i)));
  }
}

TEST(RaggedInto, RowSlicesAreWhatIsMade) {
  const RaggedTensor one = ragged({1, 2, 3, 4, 5, 6}, {{0, 2, 2, 5, 6}}), two = deep();
  const RaggedTensor dense = RaggedTensor::make(tensor_of(counting<float>(8), {4, 2}), {}).value();
  for (const RaggedTensor& rt : {one, two, dense}) {
    for (const char* index : {":", "1:", "1:1", "::2", "::-1", "0", "-1", "2::-2"}) {
      const Selection s = rows(rt.rows(), index);
      const RaggedTensor expected = ragged_slice(s, rt).value();
      const RaggedSize size = ragged_slice_size(s, rt).value();
      const auto fill = [&](const RaggedView& out) { return ragged_slice_into(s, rt, out); };
      expect_filled_as<std::int64_t>(expected, size, fill);
      expect_filled_as<std::int32_t>(expected, size, fill);
    }
  }
}

TEST(RaggedInto, ElementsOfVariantsAreWhatIsMade) {
  const VariantArray batch = ragged_tensor_to_variant(deep()).value();
  const VariantArray listed = VariantArray::make({deep(), std::nullopt}, {2}).value();
  for (std::int64_t i = 0; i < 3; ++i) {
    expect_filled_as<std::int64_t>(**batch.at(i), batch.element_size(i).value(),
                                   [&](const RaggedView& out) { return batch.element_into(i, out); });
  }
  expect_filled_as<std::int32_t>(deep(), listed.element_size(0).value(),
                                 [&](const RaggedView& out) { return listed.element_into(0, out); });
  EXPECT_TRUE(is_error(listed.element_size(1), kInvalid, "element 1 is missing"));
  EXPECT_TRUE(is_error(listed.element_into(1, {}), kInvalid, "element 1 is missing"));
  EXPECT_TRUE(is_error(batch.element_size(3), StatusCode::OutOfRange, "element 3"));
  EXPECT_TRUE(is_error(batch.element_into(-1, {}), StatusCode::OutOfRange));
}

TEST(RaggedInto, DecodedVariantsAreWhatIsMade) {
  struct Case {
    VariantArray encoded;
    int input, output;
  };
  const VariantArray pieces = VariantArray::make({piece({1}), piece({2, 3}), piece({}), piece({4})}, {4}).value();
  const VariantArray batch = ragged_tensor_to_variant(deep()).value();
  const auto dense = RaggedTensor::make(tensor_of(counting<float>(4), {2, 2}), {}).value();
  const Case cases[] = {{pieces, 0, 1},
                        {pieces.reshape({2, 2}).value(), 0, 2},
                        {batch, 1, 2},
                        {batch.reshape({3, 1}).value(), 1, 3},
                        {VariantArray::make({deep(), deep()}, {2}).value(), 2, 3},
                        {VariantArray::make({deep()}, {}).value(), 2, 2},
                        {VariantArray::make({piece({1, 2}), piece({3, 4})}, {2}).value(), 0, 0},
                        {ragged_tensor_to_variant(dense).value(), 0, 0},
                        {ragged_tensor_to_variant(dense).value(), 0, 1}};
  for (const auto& [encoded, input, output] : cases) {
    const RaggedTensor expected = ragged_tensor_from_variant(encoded, input, output).value();
    const RaggedSize size = ragged_tensor_from_variant_size(encoded, input, output).value();
    const auto fill = [&](const RaggedView& out) {
      return ragged_tensor_from_variant_into(encoded, input, output, out);
    };
    expect_filled_as<std::int64_t>(expected, size, fill);
    expect_filled_as<std::int32_t>(expected, size, fill);
  }
  const VariantArray none = VariantArray::make({}, {0}).value();
  const FromVariantTypes types{.values = DType::Float32};
  expect_filled_as<std::int64_t>(
      ragged_tensor_from_variant(none, 1, 2, types).value(), ragged_tensor_from_variant_size(none, 1, 2, types).value(),
      [&](const RaggedView& out) { return ragged_tensor_from_variant_into(none, 1, 2, out, types); });
}

TEST(RaggedInto, StringsAreAssigned) {
  const std::string word = "a word too long to be kept in place, surely";
  const auto words = RaggedTensor::make(tensor_of<std::string>({word, "b", "c"}, {3}), {splits_of({0, 2, 3})}).value();
  const Selection s = rows(2, "::-1");
  expect_filled_as<std::int64_t, std::string>(ragged_slice(s, words).value(), ragged_slice_size(s, words).value(),
                                              [&](const RaggedView& out) { return ragged_slice_into(s, words, out); });
}

TEST(RaggedInto, RefusesOtherMemoryAndWritesNothing) {
  const RaggedTensor rt = ragged({1, 2, 3, 4}, {{0, 1, 4}});
  const Selection s = rows(2, "::-1");
  std::vector<float> values(4, -1);
  std::vector<double> wide(4);
  std::vector<std::int64_t> splits(3, -1), more(4, -1);
  const View good_values = view_of(values, {4}), good_splits = view_of(splits, {3});
  const auto refusal = [&](const RaggedView& out, const auto&... parts) {
    return is_error(ragged_slice_into(s, rt, out), kInvalid, parts...);
  };
  EXPECT_TRUE(refusal({{}, good_values}, "out.splits has 0 lists", "ragged rank 1"));
  EXPECT_TRUE(refusal({{view_of(more, {4})}, good_values}, "out.splits[0] was [4] instead of [3]"));
  EXPECT_TRUE(refusal({{view_of(wide, {3})}, good_values}, "out.splits[0] has dtype float64, expected int64 or int32"));
  EXPECT_TRUE(refusal({{good_splits}, view_of(values, {3})}, "out.values was [3] instead of [4]"));
  EXPECT_TRUE(refusal({{good_splits}, view_of(wide, {4})}, "out.values has dtype float64, expected float32"));
  EXPECT_TRUE(refusal({{good_splits}, View::strided(values.data(), {4}, {0}).value()}, "out.values overlaps itself"));
  const View inside = View::contiguous(more.data(), DType::Float32, {4}).value();
  EXPECT_TRUE(refusal({{View::contiguous(more.data(), DType::Int64, {3}).value()}, inside},
                      "out.splits[0] shares memory with out.values"));
  Tensor shared = rt.values();
  View own = shared.view();
  EXPECT_TRUE(refusal({{good_splits}, own}, "out.values shares memory with the values"));
  EXPECT_TRUE(refusal({{View{nullptr, DType::Int64, good_splits.layout}}, good_values}, "null"));
  EXPECT_THAT(values, ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(splits, ElementsAre(-1, -1, -1));
  EXPECT_TRUE(ragged_slice_into(s, rt, {{good_splits}, good_values}).ok());
  EXPECT_THAT(splits, ElementsAre(0, 3, 4));
}

// A copy of a handle is writable, and so are its splits.
TEST(RaggedInto, RefusesMemoryOfTheSplitsThatAreRead) {
  RaggedTensor rt = RaggedTensor::make(tensor_of<std::int64_t>({1LL << 40, 2, 3}, {3}),
                                       {splits_of({0, 1, 3}), splits_of({0, 1, 2, 3})})
                        .value();
  const std::vector<Tensor> lists = rt.nested_row_splits();
  const VariantArray batch = ragged_tensor_to_variant(rt).value();
  const VariantArray listed = VariantArray::make({rt}, {1}).value();
  const VariantArray square = VariantArray::make({rt}, {1, 1}).value();
  const VariantArray single = VariantArray::make({rt}, {}).value();
  std::vector<std::int64_t> values(3, -1), memory(16, -1);
  const auto expect_refusals = [&](const RaggedSize& size, const auto& fill) {
    RaggedView out{{}, view_of(values, {3})};
    for (std::size_t level = 0; level < size.splits.size(); ++level) {
      out.splits.push_back(View::contiguous(memory.data() + 4 * level, DType::Int64, {size.splits[level]}).value());
    }
    for (Tensor list : lists) {
      const auto own = [&](std::int64_t n) { return View::contiguous(list.view().data, DType::Int64, {n}).value(); };
      RaggedView over = out;
      over.values = own(3);
      EXPECT_TRUE(is_error(fill(over), kInvalid, "out.values shares memory with the splits that are read"));
      for (std::size_t level = 0; level < size.splits.size(); ++level) {
        if (size.splits[level] > list.shape()[0]) continue;
        over = out;
        over.splits[level] = own(size.splits[level]);
        EXPECT_TRUE(is_error(fill(over), kInvalid, "out.splits[", "shares memory with the splits that are read"));
      }
    }
    EXPECT_TRUE(fill(out).ok());
  };
  const Selection backwards = rows(2, "::-1");
  expect_refusals(ragged_slice_size(backwards, rt).value(),
                  [&](const RaggedView& out) { return ragged_slice_into(backwards, rt, out); });
  expect_refusals(listed.element_size(0).value(), [&](const RaggedView& out) { return listed.element_into(0, out); });
  const auto decode = [&](const VariantArray& encoded, int in, int to) {
    expect_refusals(ragged_tensor_from_variant_size(encoded, in, to).value(),
                    [&](const RaggedView& out) { return ragged_tensor_from_variant_into(encoded, in, to, out); });
  };
  decode(batch, 1, 2);
  decode(listed, 2, 3);
  decode(square, 2, 4);
  decode(single, 2, 2);
  std::vector<std::int64_t> dy(3, 1);
  Tensor list = lists[0];
  const View over = View::contiguous(list.view().data, DType::Int64, {3}).value();
  EXPECT_TRUE(is_error(ragged_slice_grad_into(backwards, rt, view_of(dy, {3}), over), kInvalid,
                       "out shares memory with the splits of rt"));
}

TEST(RaggedInto, SplitsThatDoNotFitInt32AreRefused) {
  constexpr std::int64_t kMany = std::int64_t{1} << 31;
  const Tensor none = Tensor::make(DType::Int8, *Shape::make({kMany, 0})).value();
  const RaggedTensor rt = RaggedTensor::make(none, {splits_of({0, kMany})}).value();
  std::vector<std::int32_t> narrow(2, -1);
  std::vector<std::int64_t> wide(2, -1);
  const Selection all = rows(1, ":");
  Tensor out = none;
  EXPECT_TRUE(is_error(ragged_slice_into(all, rt, {{view_of(narrow, {2})}, out.view()}), kInvalid, "int32"));
  EXPECT_THAT(narrow, ElementsAre(-1, -1));
  EXPECT_TRUE(ragged_slice_into(all, rt, {{view_of(wide, {2})}, out.view()}).ok());
  EXPECT_THAT(wide, ElementsAre(0, kMany));
}

template <class Fill>
void expect_gradient(const std::vector<float>& expected, const Fill& fill) {
  const std::int64_t size = std::ssize(expected);
  std::vector<float> dense(expected.size(), -1), zeros(expected.size(), 0), sums(expected.size(), 100);
  ASSERT_TRUE(fill(view_of(dense, {size}), Write::Overwrite).ok());
  EXPECT_EQ(dense, expected);
  ASSERT_TRUE(fill(view_of(zeros, {size}), Write::IntoZeros).ok());
  EXPECT_EQ(zeros, expected);
  Gaps<float> gaps({size}, -1), gap_sums({size}, 100);
  ASSERT_TRUE(fill(gaps.view, Write::Overwrite).ok());
  EXPECT_EQ(gaps.elements(), expected);
  ASSERT_TRUE(fill(view_of(sums, {size}), Write::Accumulate).ok());
  ASSERT_TRUE(fill(gap_sums.view, Write::Accumulate).ok());
  for (float& sum : sums) sum -= 100;
  EXPECT_EQ(sums, expected);
  std::vector<float> apart = gap_sums.elements();
  for (float& sum : apart) sum -= 100;
  EXPECT_EQ(apart, expected);
}

TEST(RaggedInto, GradientsOfSlicesAreWhatIsMade) {
  const RaggedTensor rt = ragged({1, 2, 3, 4, 5, 6}, {{0, 2, 2, 5, 6}});
  const RaggedTensor dense = RaggedTensor::make(vector_of({1, 2, 3, 4}), {}).value();
  for (const RaggedTensor& of : {rt, dense}) {
    for (const char* index : {":", "::2", "::-1", "1:3"}) {
      const Selection s = rows(4, index);
      const std::int64_t count = ragged_slice_size(s, of).value().values[0];
      Gaps<float> apart({count}, -1);
      for (std::int64_t i = 0; i < count; ++i) {
        *reinterpret_cast<float*>(address(apart.view, Ints(&i, 1))) = static_cast<float>(i + 1);
      }
      const auto grad = counting<float>(count);
      const auto expected = elements<float>(ragged_slice_grad(s, of, view_of(grad, {count})).value());
      EXPECT_EQ(elements<float>(ragged_slice_grad(s, of, apart.view).value()), expected);
      expect_gradient(expected, [&](const View& out, Write write) {
        return ragged_slice_grad_into(s, of, apart.view, out, write);
      });
    }
  }
  std::vector<float> grad(6), out(5);
  const Selection all = rows(4, ":");
  EXPECT_TRUE(
      is_error(ragged_slice_grad_into(all, rt, view_of(grad, {6}), view_of(out, {5})), kInvalid, "[5] instead"));
  EXPECT_TRUE(is_error(ragged_slice_grad_into(all, rt, view_of(grad, {6}), view_of(grad, {6})), kInvalid,
                       "out shares memory with dy"));
}

TEST(RaggedInto, TheGradientOfVariantsIsWhatIsMade) {
  const Tensor splits = splits_of({0, 2, 2, 5, 6});
  const VariantArray some =
      VariantArray::make({piece({2, 4}), std::nullopt, piece({6, 8, 10}), std::nullopt}, {4}).value();
  const VariantArray batch = ragged_tensor_to_variant(ragged({1, 2, 3, 4, 5, 6}, {{0, 2, 2, 5, 6}})).value();
  const VariantArray none = VariantArray::make({std::nullopt, std::nullopt, std::nullopt, std::nullopt}, {4}).value();
  for (const VariantArray& encoded : {some, batch, none}) {
    const auto expected =
        elements<float>(ragged_tensor_to_variant_gradient(encoded, {splits}, {6}, DType::Float32).value());
    expect_gradient(expected, [&](const View& out, Write write) {
      return ragged_tensor_to_variant_gradient_into(encoded, {splits}, {6}, out, write);
    });
  }
}

TEST(RaggedInto, TheGradientRefusesOtherOutputs) {
  const Tensor held = vector_of({1, 2, 3}), splits = splits_of({0, 3});
  const VariantArray encoded = VariantArray::make({RaggedTensor::make(held, {}).value()}, {1}).value();
  const auto refusal = [&](const View& out, const auto&... parts) {
    return is_error(ragged_tensor_to_variant_gradient_into(encoded, {splits}, {3}, out), kInvalid, parts...);
  };
  std::vector<float> small(2, -1);
  std::vector<double> wide(3, -1);
  EXPECT_TRUE(refusal(view_of(small, {2}), "shape of out was [2] instead of [3]"));
  EXPECT_TRUE(refusal(view_of(wide, {3}), "out has dtype float64, expected float32, that of the pieces"));
  Tensor shared = held;
  EXPECT_TRUE(refusal(shared.view(), "out shares memory with a piece"));
  const View over_splits = View::contiguous(const_cast<std::byte*>(splits.data()), DType::Float32, {3}).value();
  EXPECT_TRUE(refusal(over_splits, "out shares memory with row_splits[0]"));
  EXPECT_TRUE(refusal(View::strided(static_cast<void*>(small.data()), DType::Float32, {3}, {2}).value(),
                      "out overlaps itself"));
  const auto words = RaggedTensor::make(tensor_of<std::string>({"a"}, {1}), {}).value();
  std::vector<std::string> out(1, "before");
  EXPECT_TRUE(
      is_error(ragged_tensor_to_variant_gradient_into(VariantArray::make({words}, {1}).value(), {splits_of({0, 1})},
                                                      {1}, view_of(out, {1}), Write::Accumulate),
               kInvalid, "cannot be added"));
  EXPECT_TRUE(ragged_tensor_to_variant_gradient_into(VariantArray::make({words}, {1}).value(), {splits_of({0, 1})}, {1},
                                                     view_of(out, {1}))
                  .ok());
  EXPECT_THAT(out, ElementsAre("a"));
}

}  // namespace
}  // namespace backslice
