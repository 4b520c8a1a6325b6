#include "core/overlap.h"

#include <set>

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

std::byte memory[4096];

View bytes(std::int64_t offset, Ints shape, Ints strides, std::int64_t item = 1) {
  return View::strided(memory + 2048 + offset, DType::Bytes, shape, strides, item).value();
}

// All bytes the view touches, with repetition noticed.
std::pair<std::set<const std::byte*>, bool> touched(const View& view) {
  std::set<const std::byte*> all;
  bool repeated = false;
  for_each_index(view.shape(), [&](const std::vector<std::int64_t>& index) {
    for (std::int64_t b = 0; b < view.layout.item_size; ++b) repeated |= !all.insert(address(view, index) + b).second;
  });
  return {all, repeated};
}

TEST(Overlap, BroadcastAxesOverlapThemselves) {
  EXPECT_TRUE(overlaps_itself(bytes(0, {4}, {0}).layout));
  EXPECT_FALSE(overlaps_itself(bytes(0, {1}, {0}).layout));
  EXPECT_FALSE(overlaps_itself(bytes(0, {0, 4}, {0, 0}).layout));
}

TEST(Overlap, InterleavedColumnsDoNotOverlap) {
  EXPECT_FALSE(overlap(bytes(0, {8}, {2}), bytes(1, {8}, {2})));
  EXPECT_TRUE(overlap(bytes(0, {8}, {2}, 2), bytes(1, {8}, {2})));
  EXPECT_TRUE(overlap(bytes(0, {8}, {2}), bytes(7, {8}, {-1})));
}

TEST(Overlap, AgreesWithListingTheBytes) {
  std::mt19937 random(1);
  const auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  const auto any_view = [&] {
    std::vector<std::int64_t> shape, strides;
    for (int rank = pick(4); rank > 0; --rank) {
      shape.push_back(pick(5));
      strides.push_back(pick(25) - 12);
    }
    return bytes(pick(41) - 20, shape, strides, pick(4));
  };
  int overlaps = 0;
  for (int i = 0; i < 20000; ++i) {
    const View a = any_view(), b = any_view();
    const auto [bytes_a, repeated] = touched(a);
    EXPECT_EQ(overlaps_itself(a.layout), repeated);
    bool shared = false;
    for (const std::byte* p : touched(b).first) shared |= bytes_a.contains(p);
    EXPECT_EQ(overlap(a, b), shared);
    overlaps += shared;
  }
  EXPECT_GT(overlaps, 1000);
}

TEST(Overlap, WhatCannotBeDecidedInBoundedWorkCountsAsOverlap) {
  // Strides of about the same size, all even, and a target that the search can exclude only late, by the parity of two
  // odd terms.
  std::vector<std::int64_t> shape(24, 3), strides;
  for (std::int64_t i = 0; i < 24; ++i) strides.push_back(1'000'003 + 2 * 7'919 * i * i);
  EXPECT_TRUE(overlaps_itself(View::strided(memory, DType::Int8, shape, strides).value().layout));
}

}  // namespace
}  // namespace backslice
