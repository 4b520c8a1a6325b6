// Nests of random loops against the loops as they stand, and every variant of the moves against moving one by one.
#include "core/items.h"
#include "kernels/cpu/targets.h"
#include "kernels/nest/nest.h"
#include "testing.h"

namespace backslice {
namespace {

using Loops = std::vector<Loop>;
using Bytes = std::vector<std::byte>;

std::int64_t random_below(std::mt19937& random, std::int64_t bound) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
}

// Strides of axes with these extents, in a random order, with padding between some of them.
std::vector<std::int64_t> random_strides(std::mt19937& random, const std::vector<std::int64_t>& extents,
                                         std::int64_t item_size) {
  std::vector<std::size_t> order(extents.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t next = item_size * (random() % 3 == 0 ? 1 + random_below(random, 4) : 1);
  for (const std::size_t axis : order) {
    strides[axis] = next;
    next = next * extents[axis] + (random() % 3 == 0 ? random_below(random, 5) : 0);
  }
  return strides;
}

// A destination, a source, and loops between them; the source's strides may be negative or 0.
struct RandomNest {
  Loops loops;
  std::int64_t item_size, dst_bytes, src_bytes, src_offset;
};

RandomNest random_nest(std::mt19937& random, std::int64_t item_size, bool takes_all) {
  const auto rank = static_cast<std::size_t>(random_below(random, 7));
  RandomNest nest{Loops(rank), item_size, item_size, item_size, 0};
  std::vector<std::int64_t> extents(rank), counts(rank);
  constexpr std::int64_t kLongest[] = {1, 700, 90, 20, 20, 20, 20};
  for (std::size_t i = 0; i < rank; ++i) {
    Loop& loop = nest.loops[i];
    extents[i] = loop.extent = 1 + random_below(random, random() % 4 == 0 ? kLongest[rank] : 4);
    loop.count = loop.extent;
    if (!takes_all && random() % 2 == 0) {
      loop.count = 1 + random_below(random, loop.extent);
      loop.step = loop.count == 1 ? 1 : 1 + random_below(random, (loop.extent - 1) / (loop.count - 1));
      loop.start = random_below(random, loop.extent - (loop.count - 1) * loop.step);
    }
    counts[i] = loop.count;
  }
  const auto dst = random_strides(random, extents, item_size);
  auto src = random_strides(random, counts, item_size);
  for (std::size_t i = 0; i < rank; ++i) {
    Loop& loop = nest.loops[i];
    if (random() % 6 == 0) src[i] = 0;  // one item for all positions
    loop.dst_stride = dst[i], loop.src_stride = random() % 3 == 0 ? -src[i] : src[i];
    nest.dst_bytes += (loop.extent - 1) * dst[i];
    nest.src_bytes += (loop.count - 1) * src[i];
    if (loop.src_stride < 0) nest.src_offset += (loop.count - 1) * src[i];
  }
  return nest;
}

// Calls body(offset in the destination, offset in the source, or -1 where nothing is taken) for every position.
template <class Body>
void for_each_position(const RandomNest& nest, const Body& body, std::size_t depth = 0, std::int64_t dst = 0,
                       std::int64_t src = 0, bool taken = true) {
  if (depth == nest.loops.size()) return body(dst, taken ? src + nest.src_offset : -1);
  const Loop& loop = nest.loops[depth];
  for (std::int64_t i = 0; i < loop.extent; ++i) {
    const std::int64_t from_start = i - loop.start, index = from_start / loop.step;
    const bool here = taken && from_start >= 0 && from_start % loop.step == 0 && index < loop.count;
    for_each_position(nest, body, depth + 1, dst + i * loop.dst_stride, here ? src + index * loop.src_stride : 0, here);
  }
}

Bytes random_bytes(std::mt19937& random, std::int64_t count) {
  Bytes bytes(static_cast<std::size_t>(count));
  for (auto& byte : bytes) byte = static_cast<std::byte>(random() % 64);  // no NaNs, of which sums may be others
  return bytes;
}

class Nests : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(Nests, FillEveryPositionAndNothingBetween) {
  std::mt19937 random(21);
  for (int i = 0; i < 400; ++i) {
    const RandomNest nest = random_nest(random, GetParam(), random() % 3 == 0);
    const Bytes src = random_bytes(random, nest.src_bytes), before = random_bytes(random, nest.dst_bytes);
    Bytes expected = before, taken = before;
    const auto size = static_cast<std::size_t>(nest.item_size);
    for_each_position(nest, [&](std::int64_t to, std::int64_t from) {
      if (from < 0) return static_cast<void>(std::memset(expected.data() + to, 0, size));
      std::memcpy(expected.data() + to, src.data() + from, size);
      std::memcpy(taken.data() + to, src.data() + from, size);
    });
    for (const Target& target : available_targets()) {
      Bytes filled = before;
      FillNest(nest.loops, nest.item_size).run(filled.data(), src.data() + nest.src_offset, *target.rows);
      ASSERT_EQ(filled, expected) << target.name << ", case " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ItemSizes, Nests, ::testing::Values(1, 2, 3, 4, 8, 12, 16, 24, 40, 100, 1500));

class SumNests : public ::testing::TestWithParam<DType> {};

TEST_P(SumNests, AddToEveryPositionAndNothingBetween) {
  std::mt19937 random(22);
  const DType dtype = GetParam();
  for (int i = 0; i < 400; ++i) {
    const RandomNest nest = random_nest(random, item_size(dtype), true);
    const Bytes src = random_bytes(random, nest.src_bytes), before = random_bytes(random, nest.dst_bytes);
    Bytes expected = before;
    for_each_position(nest, [&](std::int64_t to, std::int64_t from) {
      operations_of(dtype).add(expected.data() + to, src.data() + from, 1);
    });
    for (const Target& target : available_targets()) {
      Bytes sums = before;
      Nest::taken(nest.loops, nest.item_size)
          .add(sums.data(), src.data() + nest.src_offset, dtype, nest.item_size, *target.rows);
      ASSERT_EQ(sums, expected) << target.name << ", case " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, SumNests,
                         ::testing::Values(DType::Int8, DType::UInt16, DType::Float16, DType::BFloat16, DType::Float32,
                                           DType::Float64, DType::Float8E4M3FN, DType::Complex64, DType::Complex128),
                         [](const auto& info) { return std::string(name(info.param)); });

// -- Sources that lie across the destination, beyond the caches

// The extents as they lie in the source, and the order of the axes in the destination.
RandomNest transposed_nest(const std::vector<std::int64_t>& extents, const std::vector<std::size_t>& order,
                           std::int64_t item_size, bool is_reversed) {
  RandomNest nest{Loops(extents.size()), item_size, item_size, item_size, 0};
  std::int64_t dst = item_size, src = item_size;
  for (std::size_t i = extents.size(); i-- > 0; src *= extents[i]) {
    nest.loops[i].extent = nest.loops[i].count = extents[i];
    nest.loops[i].src_stride = is_reversed ? -src : src;
    nest.src_offset += is_reversed ? (extents[i] - 1) * src : 0;
  }
  for (std::size_t i = order.size(); i-- > 0; dst *= extents[order[i]]) nest.loops[order[i]].dst_stride = dst;
  nest.dst_bytes = dst, nest.src_bytes = src;
  return nest;
}

TEST(TransposedNests, MoveAndAddEveryItem) {
  std::mt19937 random(24);
  const std::vector<std::pair<std::vector<std::int64_t>, std::vector<std::size_t>>> cases = {
      {{300, 700}, {1, 0}},
      {{7, 20011}, {1, 0}},
      {{20011, 3}, {1, 0}},
      {{5, 4001, 7}, {1, 2, 0}},
      {{7, 9001, 2, 2}, {3, 2, 1, 0}},
      {{40, 50, 60}, {2, 0, 1}}};
  for (const auto& [extents, order] : cases) {
    for (const DType dtype : {DType::Int8, DType::Int16, DType::Float16, DType::Float32, DType::Complex128}) {
      const bool is_reversed = random() % 2 == 0;
      const RandomNest nest = transposed_nest(extents, order, item_size(dtype), is_reversed);
      const auto size = static_cast<std::size_t>(nest.item_size);
      const Bytes src = random_bytes(random, nest.src_bytes), before = random_bytes(random, nest.dst_bytes);
      Bytes copies = before, sums = before;
      for_each_position(nest, [&](std::int64_t to, std::int64_t from) {
        std::memcpy(copies.data() + to, src.data() + from, size);
        operations_of(dtype).add(sums.data() + to, src.data() + from, 1);
      });
      for (const Target& target : available_targets()) {
        Bytes moved = before, added = before;
        Nest::taken(nest.loops, nest.item_size).move(moved.data(), src.data() + nest.src_offset, *target.rows);
        Nest::taken(nest.loops, nest.item_size)
            .add(added.data(), src.data() + nest.src_offset, dtype, nest.item_size, *target.rows);
        EXPECT_TRUE(moved == copies) << target.name << " " << name(dtype) << " " << extents[0] << ", " << is_reversed;
        EXPECT_TRUE(added == sums) << target.name << " " << name(dtype) << " " << extents[0] << ", " << is_reversed;
      }
    }
  }
}

// -- Variants

void expect_moved(const Target& target, const MoveVariant& variant, const Plane& plane, std::int64_t run) {
  constexpr std::int64_t kMiddle = 1 << 14;
  std::mt19937 random(23);
  const Bytes src = random_bytes(random, 2 * kMiddle), before(2 * kMiddle, std::byte{99});
  Bytes expected = before, moved = before;
  for (std::int64_t row = 0; row < plane.rows; ++row) {
    for (std::int64_t i = 0; i < plane.count; ++i) {
      std::memcpy(expected.data() + kMiddle + row * plane.row_dst + i * plane.dst_stride,
                  src.data() + kMiddle + row * plane.row_src + i * plane.src_stride, static_cast<std::size_t>(run));
    }
  }
  variant.run(moved.data() + kMiddle, src.data() + kMiddle, plane, run);
  EXPECT_EQ(moved, expected) << target.name << " " << variant.name << ", runs of " << run << ", " << plane.rows << " x "
                             << plane.count;
}

TEST(MoveVariants, MoveEveryRunAndNothingBetween) {
  for (const Target& target : available_targets()) {
    for (const std::int64_t run : {1, 2, 3, 4, 7, 8, 13, 16, 33}) {
      const int width = width_index(run);
      for (const MoveVariant& variant : target.rows->moves[width < 0 ? 5 : width]) {
        for (const std::int64_t stride : {1, -1, 2, 3, 4, -2, -3, -4, 5, -5, 37}) {
          for (const std::int64_t row_stride : {1, -1, 20, 60}) {
            for (const std::int64_t count : {1, 2, 5, 6, 11, 16, 17, 33, 70}) {
              const std::int64_t rows = 1 + count % 19;
              const Plane dense{rows, count * run, row_stride * run, count, run, stride * run};
              const Plane apart{rows, count * 2 * run + 1, row_stride * run, count, 2 * run, stride * run};
              for (const Plane& plane : {dense, apart}) {
                const bool fits = std::abs(plane.row_src * rows) + std::abs(plane.src_stride * count) < (1 << 13) &&
                                  plane.row_dst * rows < (1 << 13);
                if (fits && variant.can_run(plane, run)) expect_moved(target, variant, plane, run);
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace backslice
