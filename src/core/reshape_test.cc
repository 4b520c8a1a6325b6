#include "core/reshape.h"

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

std::vector<std::int64_t> offsets(const Layout& layout) {
  std::vector<std::int64_t> list;
  for_each_index(layout.shape, [&](const std::vector<std::int64_t>& index) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < index.size(); ++i) offset += index[i] * layout.strides[static_cast<int>(i)];
    list.push_back(offset);
  });
  return list;
}

Shape shape(Ints dims) { return Shape::make(dims).value(); }

TEST(Reshape, ContiguousReshapesToAnything) {
  const Layout layout = contiguous_layout(shape({2, 6, 1}), 4);
  for (const Shape& to : {shape({12}), shape({3, 4}), shape({1, 2, 1, 3, 2}), shape({2, 6})}) {
    const auto result = reshape(layout, to);
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(offsets(*result), offsets(layout));
  }
}

TEST(Reshape, StridedAxesSplitButDoNotMerge) {
  const Layout columns{shape({4, 2}), Dims({16, 4}), 4};  // half of each row
  EXPECT_TRUE(reshape(columns, shape({2, 2, 2})).has_value());
  EXPECT_FALSE(reshape(columns, shape({8})).has_value());
}

TEST(Reshape, WhateverItReturnsKeepsTheOrder) {
  std::mt19937 random(2);
  const auto factor = [&](std::int64_t product) {
    std::vector<std::int64_t> dims;
    while (product > 1) {
      std::int64_t f = 1 + static_cast<std::int64_t>(random() % 4);
      if (product % f == 0) dims.push_back(f), product /= f;
    }
    return dims;
  };
  int possible = 0;
  for (int i = 0; i < 3000; ++i) {
    const RandomTensor t = random_tensor(random, DType::Int16, factor(24));
    const auto result = reshape(t.view.layout, shape(factor(24)));
    if (!result) continue;
    ++possible;
    EXPECT_EQ(offsets(*result), offsets(t.view.layout));
  }
  EXPECT_GT(possible, 100);
}

}  // namespace
}  // namespace backslice
