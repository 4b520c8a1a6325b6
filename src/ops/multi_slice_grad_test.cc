#include "backslice/multi_slice.h"
#include "core/visit_dtype.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

// The definition: the first contribution to an element is copied, later ones are added, in order.
std::vector<std::byte> sum_of(std::span<const SliceGradient> slices, const View& dst, const RandomTensor& memory) {
  std::vector<std::byte> expected = memory.memory;
  const auto place = [&](Ints index) { return expected.data() + (address(dst, index) - memory.memory.data()); };
  const auto size = static_cast<std::size_t>(dst.layout.item_size);
  for_each_index(dst.shape(), [&](const auto& index) { std::memset(place(index), 0, size); });
  std::vector<bool> seen(static_cast<std::size_t>(dst.elements()));
  for (const auto& [selection, dy] : slices) {
    for_each_index(selection.result_shape(), [&, &selection = selection, &dy = dy](const auto& index) {
      const auto input = input_index(selection, index);
      std::int64_t flat = 0;
      for (int i = 0; i < dst.shape().rank(); ++i) flat = flat * dst.shape()[i] + input[i];
      if (!seen[static_cast<std::size_t>(flat)]) {
        std::memcpy(place(input), address(dy, index), size);
      } else {
        visit_addable(dst.dtype, [&]<class T>() {
          T sum, term;
          std::memcpy(&sum, place(input), sizeof(T));
          std::memcpy(&term, address(dy, index), sizeof(T));
          sum = sum + term;
          std::memcpy(place(input), &sum, sizeof(T));
        });
      }
      seen[static_cast<std::size_t>(flat)] = true;
    });
  }
  return expected;
}

class MultiSliceGrad : public ::testing::TestWithParam<DType> {};

TEST_P(MultiSliceGrad, IsTheSumInListOrder) {
  std::mt19937 random(13);
  const auto pool = make_thread_executor(3);
  for (int round = 0; round < 300; ++round) {
    Selection model = random_selection(random, 3);
    const Shape shape = model.shape();
    std::vector<RandomTensor> sources;
    std::vector<SliceGradient> slices;
    sources.reserve(64);
    for (int attempt = 0, wanted = static_cast<int>(random() % 30); attempt < 3000 && wanted > 0; ++attempt) {
      const Selection s = random_slice_of(random, shape);
      sources.push_back(random_tensor(random, GetParam(), s.result_shape()));
      // Random values without NaNs, whose bits depend on the order of operands; int4 uses only its four bits.
      const std::byte mask{static_cast<unsigned char>(GetParam() == DType::Int4 ? 0x0f : 0xbf)};
      if (random() % 4 == 0) std::fill(sources.back().memory.begin(), sources.back().memory.end(), std::byte{0x80});
      for (std::byte& b : sources.back().memory) b &= mask;
      slices.push_back({s, sources.back().view});
      --wanted;
    }
    if (GetParam() == DType::Float8E8M0FNU) {
      sources.push_back(random_tensor(random, GetParam(), shape));
      slices.insert(slices.begin() + static_cast<std::ptrdiff_t>(slices.size() / 2),
                    {Selection::all(shape), sources.back().view});
    }
    const RandomTensor dst = random_tensor(random, GetParam(), shape);
    const auto expected = sum_of(slices, dst.view, dst);
    RandomTensor out = dst;
    out.view.data = out.memory.data() + (dst.view.data - dst.memory.data());
    const Status status = multi_slice_grad_into(shape, slices, out.view, Write::Overwrite, {.executor = pool.get()});
    ASSERT_TRUE(status.ok()) << status.to_string();
    ASSERT_EQ(out.memory, expected) << Ints(shape).size();
    ASSERT_TRUE(multi_slice_grad_into(shape, {}, out.view).ok() || !has_zero(GetParam()));
    ASSERT_TRUE(multi_slice_grad_into(shape, slices, out.view, Write::IntoZeros, {.executor = pool.get()}).ok());
    ASSERT_EQ(out.memory, expected) << "into zeros, " << Ints(shape).size();
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, MultiSliceGrad,
                         ::testing::Values(DType::Float32, DType::Int64, DType::BFloat16, DType::Float8E4M3FN,
                                           DType::Float8E5M2FNUZ, DType::Float8E8M0FNU, DType::Complex64, DType::Int4),
                         [](const auto& info) { return std::string(name(info.param)); });

class MultiSliceWrite : public ::testing::TestWithParam<DType> {};

TEST_P(MultiSliceWrite, LaterOnesWin) {
  std::mt19937 random(14);
  const auto pool = make_thread_executor(3);
  const Context context{.executor = pool.get()};
  for (int round = 0; round < 200; ++round) {
    const Shape shape = random_selection(random, 3).shape();
    std::vector<RandomTensor> sources;
    std::vector<SliceGradient> slices;
    const auto add = [&](const Selection& s) {
      sources.push_back(random_tensor(random, GetParam(), s.result_shape()));
      slices.push_back({s, sources.back().view});
    };
    sources.reserve(32);
    if (random() % 2 == 0 || !has_zero(GetParam())) add(Selection::all(shape));
    for (std::size_t left = random() % 30; left > 0; --left) add(random_slice_of(random, shape));
    const RandomTensor dst = random_tensor(random, GetParam(), shape);
    const auto size = static_cast<std::size_t>(dst.view.layout.item_size);
    const auto expected = run_on_copy(dst, [&](const View& out) {
      for_each_index(shape, [&](const auto& index) { std::memset(address(out, index), 0, size); });
      for (const auto& [selection, dy] : slices) {
        for_each_index(selection.result_shape(), [&, &selection = selection, &dy = dy](const auto& index) {
          std::memcpy(address(out, input_index(selection, index)), address(dy, index), size);
        });
      }
    });
    const auto written = run_on_copy(dst, [&](const View& out) {
      const Status status = multi_slice_write_into(shape, slices, out, context);
      ASSERT_TRUE(status.ok()) << status.to_string();
    });
    ASSERT_EQ(written, expected) << Ints(shape).size();
    if (slices.empty()) continue;
    const Tensor made = multi_slice_write(shape, slices, context).value();
    for_each_index(shape, [&](const auto& index) {
      const std::byte* at = expected.data() + (address(dst.view, index) - dst.memory.data());
      ASSERT_EQ(std::memcmp(address(made.view(), index), at, size), 0);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, MultiSliceWrite,
                         ::testing::Values(DType::Float32, DType::Bool, DType::QInt8, DType::Int4, DType::Float64,
                                           DType::BFloat16, DType::Complex128, DType::Float8E8M0FNU),
                         [](const auto& info) { return std::string(name(info.param)); });

// Rows of many tiles: a base, rows over it, and tiles that one row hides entirely.
TEST(MultiSliceWriteLarge, OverABase) {
  const Shape shape = Shape::make({64, 40, 300}).value();
  const std::vector<float> base = counting<float>(shape.elements());
  std::vector<std::vector<float>> dys;
  std::vector<SliceGradient> slices = {{Selection::all(shape), view_of(base, shape)}};
  std::vector<float> expected = base;
  for (std::int64_t t = 0; t < 60; ++t) {
    const Index windows = {SliceRange{}, SliceRange{t % 37, t % 37 + 3}}, rows = {SliceRange{t, t + 4}};
    const Selection s = *Selection::from_index(shape, t % 2 == 0 ? windows : rows);
    dys.emplace_back(static_cast<std::size_t>(s.result_shape().elements()), static_cast<float>(-t - 1));
    slices.push_back({s, view_of(dys.back(), s.result_shape())});
    for_each_index(s.result_shape(), [&](const auto& index) {
      const auto at = input_index(s, index);
      expected[static_cast<std::size_t>((at[0] * 40 + at[1]) * 300 + at[2])] = static_cast<float>(-t - 1);
    });
  }
  for (std::size_t i = 0; i < dys.size(); ++i) {
    slices[i + 1].dy.data = reinterpret_cast<const std::byte*>(dys[i].data());
  }
  EXPECT_EQ(elements<float>(multi_slice_write(shape, slices).value()), expected);
}

TEST(MultiSliceWriteObjects, StringsAreReplaced) {
  const std::vector<std::string> base = {"a", "b", "c", "d"}, dy = {"x", "y"};
  const std::vector<SliceGradient> slices = {
      {at({4}, ":"), view_of(base, {4})}, {at({4}, "0:2"), view_of(dy, {2})}, {at({4}, "2:0:-1"), view_of(dy, {2})}};
  EXPECT_THAT(elements<std::string>(multi_slice_write({4}, slices).value()), ElementsAre("x", "y", "x", "d"));
}

TEST(MultiSliceWriteErrors, ChangeNothing) {
  const auto a = counting<float>(2);
  std::vector<float> out = counting<float>(4);
  const SliceGradient good{at({4}, "1:3"), view_of(a, {2})};
  const ConstView inside = ConstView::contiguous(out.data() + 1, DType::Float32, {2}).value();
  EXPECT_TRUE(is_error(multi_slice_write({4}, {}), kInvalid, "at least one"));
  EXPECT_TRUE(is_error(multi_slice_write_into({5}, std::vector{good}, view_of(out, {4})), kInvalid, "out"));
  EXPECT_TRUE(
      is_error(multi_slice_write_into({4}, std::vector{good, SliceGradient{good.selection, inside}}, view_of(out, {4})),
               kInvalid, "out shares memory with slices[1].dy"));
  const std::uint8_t bits[] = {1, 2};
  const SliceGradient gaps{good.selection, ConstView::contiguous(bits, DType::Float8E8M0FNU, {2}).value()};
  EXPECT_TRUE(is_error(multi_slice_write({4}, std::vector{gaps}), kInvalid, "no zero"));
  EXPECT_EQ(out, counting<float>(4));
}

TEST(MultiSliceGradLarge, TilesOfALargeTensorAgreeWithOneSliceAtATime) {
  const Shape shape = Shape::make({8, 96, 700}).value();
  for (const char* kind : {"columns", "windows", "rows", "steps"}) {
    std::vector<SliceGradient> slices;
    std::vector<std::vector<float>> dys;
    for (std::int64_t t = 0; t < 90; ++t) {
      Index index;
      const std::string k = kind;
      if (k == "columns") index = {SliceRange{}, t};
      if (k == "windows") index = {SliceRange{}, SliceRange{t, t + 5}};
      if (k == "rows") index = {t % 8, SliceRange{t / 8, t / 8 + 1}};
      if (k == "steps") index = {SliceRange{}, SliceRange{}, SliceRange{t, {}, 90}};
      const Selection s = *Selection::from_index(shape, index);
      dys.push_back(counting<float>(s.result_shape().elements()));
      slices.push_back({s, view_of(dys.back(), s.result_shape())});
    }
    for (std::size_t i = 0; i < slices.size(); ++i)
      slices[i].dy.data = reinterpret_cast<const std::byte*>(dys[i].data());
    std::vector<float> expected(static_cast<std::size_t>(shape.elements()));
    for (const auto& [s, dy] : slices) {
      ASSERT_TRUE(slice_grad_into(s, dy, view_of(expected, shape), Write::Accumulate).ok());
    }
    Tensor dx = multi_slice_grad(shape, slices).value();
    EXPECT_EQ(elements<float>(dx), expected) << kind;
  }
}

// The caller promises that the memory is zero, so gaps are not written again.
TEST(MultiSliceGradIntoZeros, WhatNoSliceTakesIsNotWritten) {
  const Shape shape = Shape::make({256, 1024}).value();
  const auto run = [&](std::vector<SliceGradient> slices) {
    std::vector<float> out(static_cast<std::size_t>(shape.elements()), 9);
    EXPECT_TRUE(multi_slice_grad_into(shape, slices, view_of(out, shape), Write::IntoZeros).ok());
    return out;
  };
  const auto expect_only = [&](const char* kind, const std::vector<SliceGradient>& slices, std::int64_t taken) {
    const std::vector<float> out = run(slices);
    EXPECT_EQ(std::count(out.begin(), out.end(), 9.0f), shape.elements() - taken) << kind;
    for (const auto& [selection, part] : slices) {
      for_each_index(selection.result_shape(), [&, &selection = selection](const auto& index) {
        const auto input = input_index(selection, index);
        ASSERT_NE(out[static_cast<std::size_t>(input[0] * 1024 + input[1])], 9) << kind;
      });
    }
  };
  const auto ones = std::vector<float>(256 * 8, 1);
  const auto slice_at = [&](const char* index) {
    const Selection s = at(shape, index);
    return SliceGradient{s, ConstView::contiguous(ones.data(), DType::Float32, s.result_shape()).value()};
  };
  expect_only("rows", {slice_at("3"), slice_at("200, 4:9")}, 1024 + 5);
  expect_only("columns", {slice_at(":, 3"), slice_at(":, 700")}, 512);
  expect_only("columns that meet", {slice_at(":, 3:5"), slice_at(":, 4:6")}, 3 * 256);
  expect_only("steps", {slice_at("::16, ::100"), slice_at("1::16, ::100")}, 2 * 16 * 11);
}

TEST(MultiSliceGradIntoZeros, StringsKeepWhatIsNotTaken) {
  const std::vector<std::string> dy = {"a"};
  std::vector<std::string> out = {"x", "y", "z"};
  const std::vector<SliceGradient> slices = {{at({3}, "1:2"), view_of(dy, {1})}};
  EXPECT_TRUE(multi_slice_grad_into({3}, slices, view_of(out, {3}), Write::IntoZeros).ok());
  EXPECT_THAT(out, ElementsAre("x", "a", "z"));
}

TEST(MultiSliceGradErrors, OutputsAreCheckedAlsoWhereThereAreNoSlices) {
  const View no_memory = View::contiguous(nullptr, DType::Float32, {4}).value();
  EXPECT_TRUE(is_error(multi_slice_grad_into({4}, {}, no_memory), kInvalid, "null"));
  std::vector<float> out(4, 9);
  View twice = view_of(out, {4});
  twice.layout.strides[0] = 0;
  EXPECT_TRUE(is_error(multi_slice_grad_into({4}, {}, twice), kInvalid, "overlaps itself"));
  EXPECT_TRUE(multi_slice_grad_into({4}, {}, view_of(out, {4})).ok());
  EXPECT_THAT(out, ElementsAre(0, 0, 0, 0));
}

TEST(MultiSliceGradErrors, SayWhichSlice) {
  const auto a = counting<float>(2);
  const auto b = counting<double>(2);
  const Selection s = at({4}, "1:3");
  const SliceGradient good{s, view_of(a, {2})};
  EXPECT_TRUE(is_error(multi_slice_grad({4}, {}), kInvalid, "at least one"));
  EXPECT_TRUE(is_error(multi_slice_grad({5}, std::vector{good}), kInvalid, "slices[0].selection", "[4]", "[5]"));
  EXPECT_TRUE(is_error(multi_slice_grad({4}, std::vector{good, SliceGradient{s, view_of(a, {1})}}), kInvalid,
                       "slices[1].dy", "[1] instead of [2]"));
  EXPECT_TRUE(is_error(multi_slice_grad({4}, std::vector{good, SliceGradient{s, view_of(b, {2})}}), kInvalid,
                       "slices[1].dy has dtype float64", "float32"));
  std::vector<float> out = counting<float>(4);
  const ConstView inside = ConstView::contiguous(out.data() + 1, DType::Float32, {2}).value();
  EXPECT_TRUE(is_error(multi_slice_grad_into({4}, std::vector{good, SliceGradient{s, inside}}, view_of(out, {4})),
                       kInvalid, "out shares memory with slices[1].dy"));
  EXPECT_EQ(out, counting<float>(4));
}

TEST(MultiSliceGradErrors, WhatCannotBeAddedMustNotOverlap) {
  const std::vector<std::string> dy = {"a", "b"};
  const std::vector<SliceGradient> apart = {{at({6}, "0:4:2"), view_of(dy, {2})},
                                            {at({6}, "3:0:-2"), view_of(dy, {2})}};
  Tensor dx = multi_slice_grad({6}, apart).value();
  EXPECT_THAT(elements<std::string>(dx), ElementsAre("a", "b", "b", "a", "", ""));
  const std::vector<SliceGradient> meeting = {apart[0], {at({6}, "2:4"), view_of(dy, {2})}};
  EXPECT_TRUE(is_error(multi_slice_grad({6}, meeting), kInvalid, "slices overlap", "string"));
  const std::int8_t q[] = {1, 2};
  const ConstView quantised = ConstView::contiguous(q, DType::QInt8, {2}).value();
  EXPECT_TRUE(
      multi_slice_grad({6}, std::vector<SliceGradient>{{at({6}, "0:2"), quantised}, {at({6}, "2:4"), quantised}}).ok());
  EXPECT_TRUE(is_error(
      multi_slice_grad({6}, std::vector<SliceGradient>{{at({6}, "0:2"), quantised}, {at({6}, "1:3"), quantised}}),
      kInvalid, "qint8"));
}

TEST(MultiSliceGradScratch, GrowsWithSlicesAndAxes) {
  const auto of = [](std::int64_t slices, int rank) { return multi_slice_grad_scratch(slices, rank).value(); };
  EXPECT_LT(of(0, 0), of(100, 0));
  EXPECT_LT(of(100, 2), of(100, 3));
  EXPECT_GT(of(1000, 3), 1000 * 3 * 16);
  EXPECT_LT(of(1000, 3), 1 << 20);
  EXPECT_TRUE(is_error(multi_slice_grad_scratch(-1, 3), kInvalid, "slices is -1"));
  EXPECT_TRUE(is_error(multi_slice_grad_scratch(INT64_MAX, 3), kInvalid, "slices is"));
  EXPECT_TRUE(is_error(multi_slice_grad_scratch(1, kMaxRank + 1), kInvalid, "rank is 33"));
  EXPECT_TRUE(is_error(multi_slice_grad_scratch(1, -1), kInvalid, "rank is -1"));
}

TEST(MultiSliceGradErrors, AccumulateAddsToWhatIsThere) {
  std::vector<float> out = {10, 20, 30, 40};
  const std::vector<float> dy = {1, 2};
  const std::vector<SliceGradient> slices = {{at({4}, "0:2"), view_of(dy, {2})}, {at({4}, "1:3"), view_of(dy, {2})}};
  EXPECT_TRUE(multi_slice_grad_into({4}, slices, view_of(out, {4}), Write::Accumulate).ok());
  EXPECT_THAT(out, ElementsAre(11, 23, 32, 40));
}

}  // namespace
}  // namespace backslice
