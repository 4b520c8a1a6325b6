#include "ops/small_move.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "core/small_float.h"
#include "ops/call.h"

namespace backslice {
namespace {

struct Axis {
  std::int64_t count, dst, src;  // strides in bytes
};

// Loops of random axes between two pieces of memory, the destination's without common elements.
struct RandomMove {
  explicit RandomMove(std::mt19937& random, std::int64_t size) : item_size(size), move(size) {
    const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
    axes.resize(static_cast<std::size_t>(below(5)));
    std::int64_t dst_stride = size, src_stride = size, dst_first = 0, src_first = 0;
    for (Axis& axis : axes) {  // inner to outer
      axis.count = 1 + below(random() % 8 == 0 ? 20 : 4);
      dst_stride += random() % 3 == 0 ? size * below(3) : 0;
      src_stride += random() % 3 == 0 ? size * below(3) : 0;
      axis.dst = random() % 4 == 0 ? -dst_stride : dst_stride;
      axis.src = random() % 4 == 0 ? -src_stride : src_stride;
      if (axis.dst < 0) dst_first -= (axis.count - 1) * axis.dst;
      if (axis.src < 0) src_first -= (axis.count - 1) * axis.src;
      dst_stride *= axis.count;
      src_stride *= axis.count;
    }
    dst.resize(static_cast<std::size_t>(dst_stride + size));
    src.resize(static_cast<std::size_t>(src_stride + size));
    for (std::byte& b : dst) b = static_cast<std::byte>(random());
    for (std::byte& b : src) b = static_cast<std::byte>(random());
    std::shuffle(axes.begin(), axes.end(), random);
    move.skip(dst_first, src_first);
    for (const Axis& axis : axes) move.add_axis(axis.count, axis.dst, axis.src);
    first = {0, dst_first, src_first};
  }

  // Calls item(dst offset, src offset) for each element.
  template <class Item>
  void for_each(const Item& item, std::size_t axis = 0, std::int64_t at = 0, std::int64_t from = 0) const {
    if (axis == axes.size()) return item(first.dst + at, first.src + from);
    for (std::int64_t i = 0; i < axes[axis].count; ++i) {
      for_each(item, axis + 1, at + i * axes[axis].dst, from + i * axes[axis].src);
    }
  }

  std::int64_t item_size;
  std::vector<Axis> axes;
  Axis first{};
  std::vector<std::byte> dst, src;
  SmallMove move;
};

constexpr std::int64_t kSizes[] = {1, 2, 3, 4, 8, 12, 16, 24, 40, 200};

// Long runs are left to kernels, which are known once there was a Call.
void know_kernels() { (void)Call(Context()); }

TEST(SmallMove, CopiesEveryElementAndNothingElse) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    if (i == 500) know_kernels();
    RandomMove made(random, kSizes[random() % std::size(kSizes)]);
    std::vector<std::byte> expected = made.dst;
    made.for_each([&](std::int64_t dst, std::int64_t src) {
      std::copy_n(made.src.data() + src, made.item_size, expected.data() + dst);
    });
    EXPECT_TRUE(made.move.is_surely_distinct());
    made.move.finish();
    made.move.copy(made.dst.data(), made.src.data());
    ASSERT_EQ(made.dst, expected);
  }
}

TEST(SmallMove, ZeroesEveryElementAndNothingElse) {
  std::mt19937 random(2);
  for (int i = 0; i < 1000; ++i) {
    if (i == 500) know_kernels();
    RandomMove made(random, kSizes[random() % std::size(kSizes)]);
    SmallMove zeros(made.item_size);
    zeros.skip(made.first.dst, 0);
    for (const Axis& axis : made.axes) zeros.add_axis(axis.count, axis.dst, axis.dst);
    zeros.finish();
    std::vector<std::byte> expected = made.dst;
    made.for_each(
        [&](std::int64_t dst, std::int64_t) { std::fill_n(expected.data() + dst, made.item_size, std::byte{0}); });
    zeros.zero(made.dst.data());
    ASSERT_EQ(made.dst, expected);
  }
}

template <class Number>
void expect_sums(DType dtype, int numbers) {
  std::mt19937 random(3);
  const auto size = static_cast<std::int64_t>(sizeof(Number));
  for (int i = 0; i < 500; ++i) {
    RandomMove made(random, size * numbers);
    for (std::vector<std::byte>* memory : {&made.dst, &made.src}) {
      for (std::size_t at = 0; at + sizeof(Number) <= memory->size(); at += sizeof(Number)) {
        const auto value = static_cast<Number>(static_cast<int>(random() % 100));
        std::memcpy(memory->data() + at, &value, sizeof(Number));
      }
    }
    std::vector<std::byte> expected = made.dst;
    made.for_each([&](std::int64_t dst, std::int64_t src) {
      for (int n = 0; n < numbers; ++n, dst += size, src += size) {
        Number sum, term;
        std::memcpy(&sum, expected.data() + dst, sizeof(Number));
        std::memcpy(&term, made.src.data() + src, sizeof(Number));
        sum = static_cast<Number>(sum + term);
        std::memcpy(expected.data() + dst, &sum, sizeof(Number));
      }
    });
    made.move.finish();
    ASSERT_TRUE(made.move.add(dtype, made.dst.data(), made.src.data()));
    ASSERT_EQ(made.dst, expected);
  }
}

TEST(SmallMove, Adds) {
  expect_sums<std::uint8_t>(DType::Int8, 1);
  expect_sums<std::uint16_t>(DType::UInt16, 1);
  expect_sums<std::uint32_t>(DType::Int32, 1);
  expect_sums<std::uint64_t>(DType::UInt64, 1);
  expect_sums<float>(DType::Float32, 1);
  expect_sums<double>(DType::Float64, 1);
  expect_sums<float>(DType::Complex64, 2);
  expect_sums<double>(DType::Complex128, 2);
}

TEST(SmallMove, AddsSmallFloats) {
  for (const std::int64_t count : {1, 40, 1000}) {
    std::vector<Float16> dst(static_cast<std::size_t>(count), Float16{0x3c00}), src = dst;  // ones
    SmallMove all(2);
    all.add_axis(count, 2, 2);
    all.finish();
    EXPECT_TRUE(
        all.add(DType::Float16, reinterpret_cast<std::byte*>(dst.data()), reinterpret_cast<std::byte*>(src.data())));
    for (const Float16 sum : dst) ASSERT_EQ(sum.bits, 0x4000);
  }
}

TEST(SmallMove, DoesNotAddWhatHasNoAddition) {
  SmallMove one(1);
  one.finish();
  std::byte dst{1}, src{1};
  EXPECT_FALSE(one.add(DType::Bool, &dst, &src));
  EXPECT_EQ(dst, std::byte{1});
}

TEST(SmallMove, TellsElementsThatMayShareMemory) {
  SmallMove overlapping(4);
  overlapping.add_axis(3, 2, 4);
  EXPECT_FALSE(overlapping.is_surely_distinct());
  SmallMove repeated(4);
  repeated.add_axis(3, 0, 4);
  EXPECT_FALSE(repeated.is_surely_distinct());
}

TEST(SmallMove, CountsRuns) {
  SmallMove rows(4), items(4);
  for (SmallMove* move : {&rows, &items}) move->add_axis(1000, 1 << 20, 1 << 20);
  rows.add_axis(100, 4, 4);
  items.add_axis(100, 8, 4);
  rows.finish();
  items.finish();
  EXPECT_TRUE(rows.is_short());
  EXPECT_FALSE(items.is_short());
}

}  // namespace
}  // namespace backslice
