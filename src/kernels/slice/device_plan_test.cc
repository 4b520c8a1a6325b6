// Plans for devices whose tensors are too large for a test to hold: addresses are made up, and nothing is touched.
#include "kernels/slice/device_plan.h"

#include <algorithm>

#include "kernels/slice/device_rows.h"
#include "testing.h"

namespace backslice::cuda {
namespace {

std::byte* made_up(std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); }

std::vector<DevicePlan> gradient_plans(Ints shape, std::string_view index, std::byte* dst, const std::byte* src) {
  const Selection s = *Selection::from_index(shape, index);
  const Layout dx = contiguous_layout(s.shape(), 1), dy = contiguous_layout(s.result_shape(), 1);
  return device_plans(plan_scatter(s, dx, dy, Widen::Yes), dst, src);
}

TEST(DevicePlan, RowsOfMoreBytesThanPositionsAreCut) {
  constexpr std::int64_t kRow = 2147483647;
  std::int64_t bytes = 0;
  for (const DevicePlan& plan : gradient_plans({3, kRow}, "::2", made_up(1 << 20), made_up(1 << 30))) {
    bytes += std::int64_t{plan.items} * plan.width;
  }
  EXPECT_EQ(bytes, 3 * kRow);
}

TEST(DevicePlan, StepsOfNearlyAllPositionsFindTheirItem) {
  constexpr std::uint32_t kStep = 1552569552;  // the second item is the first of a chunk
  const std::byte dy[] = {std::byte{5}, std::byte{7}};
  const auto plans = gradient_plans({kStep + 16}, "::1552569552", made_up(1 << 20), dy);
  ASSERT_EQ(plans.size(), 1u);
  ASSERT_EQ(plans[0].width, 1);
  EXPECT_EQ((chunk_of<1, 1>(plans[0], 0).low), 5u);
  EXPECT_EQ((chunk_of<1, 1>(plans[0], 16).low), 0u);
  EXPECT_EQ((chunk_of<1, 1>(plans[0], kStep).low), 7u);
}

// -- Plans that take everything: sums, and slices

constexpr std::uintptr_t kX = std::uintptr_t{1} << 20, kY = std::uintptr_t{1} << 45;

// An item of a plan, by where it lies in x and in y, in bytes.
struct Moved {
  std::int64_t x, y;
};

Moved moved(const DevicePlan& plan, std::uint32_t item, bool into_y) {
  const Place place = locate<0>(plan, item);
  const std::byte* to = place.dst + place.position * dst_stride_of<0>(plan);
  const std::byte* from = place.src + (plan.loops > 0 ? place.position * innermost<0>(plan).src_stride : 0);
  const auto x = reinterpret_cast<std::uintptr_t>(into_y ? from : to);
  const auto y = reinterpret_cast<std::uintptr_t>(into_y ? to : from);
  return {static_cast<std::int64_t>(x - kX), static_cast<std::int64_t>(y - kY)};
}

// Where the byte of y comes from, by the definition of the slice.
std::int64_t source_of(const Selection& s, std::int64_t item_size, std::int64_t y) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(s.result_shape().rank()));
  std::int64_t rest = y / item_size, flat = 0;
  for (int axis = s.result_shape().rank(); axis-- > 0; rest /= s.result_shape()[axis]) {
    index[static_cast<std::size_t>(axis)] = rest % s.result_shape()[axis];
  }
  const auto input = testing::input_index(s, index);
  for (int axis = 0; axis < s.shape().rank(); ++axis) {
    flat = flat * s.shape()[axis] + input[static_cast<std::size_t>(axis)];
  }
  return flat * item_size + y % item_size;
}

// Each part can be counted and has its items where they belong, and together they have all of y, each byte once.
void expect_slice(const Selection& s, std::int64_t item_size, const std::vector<DevicePlan>& plans, bool into_y) {
  EXPECT_GT(plans.size(), 1u);
  std::vector<std::pair<std::int64_t, std::int64_t>> runs;  // of y
  for (const DevicePlan& plan : plans) {
    ASSERT_LT(plan.items, std::uint32_t{1} << 31);
    const std::uint32_t last = plan.items - 1;
    for (std::uint32_t item : {std::uint32_t{0}, last / 3, last / 2, last - last / 5, last}) {
      const Moved found = moved(plan, item, into_y);
      ASSERT_EQ(found.x, source_of(s, item_size, found.y)) << item << " of " << plan.items;
    }
    std::int64_t lo = moved(plan, 0, into_y).y, hi = lo + plan.width;
    for (int i = 0; i < plan.loops; ++i) {
      const DeviceLoop& loop = plan.loop[i];
      const std::int64_t reach = std::int64_t{loop.count - 1} * (into_y ? loop.dst_stride : loop.src_stride);
      (reach < 0 ? lo : hi) += reach;
    }
    ASSERT_EQ(hi - lo, std::int64_t{plan.items} * plan.width);
    runs.push_back({lo, hi});
  }
  std::sort(runs.begin(), runs.end());
  std::int64_t end = 0;
  for (const auto& run : runs) {
    ASSERT_EQ(run.first, end);
    end = run.second;
  }
  EXPECT_EQ(end, s.result_shape().elements() * item_size);
}

struct LargeSlice {
  std::vector<std::int64_t> shape;
  const char* index;
  std::int64_t item_size;
};

constexpr std::int64_t kGi = 1 << 30;

// Of more than 2^31 items, whatever their width: rows, one row, backwards, in steps, and runs that are widened.
const std::vector<LargeSlice> kLargeSlices = {
    {{3, 2 * kGi + 5}, ":, 1:", 4}, {{1 << 20, 5000}, "::-1, 1:", 2}, {{4 * kGi + 3}, "::-1", 2},
    {{5 * kGi + 1}, "::2", 1},      {{10 * kGi}, "16:", 4},           {{7, kGi, 3}, "1:, :, ::2", 8},
};

TEST(DevicePlan, SumsOfMoreItemsThanPositionsAreCut) {
  for (const auto& [shape, index, item_size] : kLargeSlices) {
    SCOPED_TRACE(index);
    const Selection s = *Selection::from_index(shape, index);
    const Layout dx = contiguous_layout(s.shape(), item_size), dy = contiguous_layout(s.result_shape(), item_size);
    const Plan plan = plan_scatter_taken(s, dx, dy, Widen::No);
    expect_slice(s, item_size, device_sums(plan, made_up(kX), made_up(kY)), false);
  }
}

TEST(DevicePlan, SlicesOfMoreItemsThanPositionsAreCut) {
  for (const auto& [shape, index, item_size] : kLargeSlices) {
    SCOPED_TRACE(index);
    const Selection s = *Selection::from_index(shape, index);
    const Layout x = contiguous_layout(s.shape(), item_size), y = contiguous_layout(s.result_shape(), item_size);
    const Plan plan = plan_gather(s, y, x, Widen::Yes);
    expect_slice(s, item_size, device_plans(plan, made_up(kY), made_up(kX)), true);
  }
}

// -- Dispatch

// Every second item along each of `loops` axes: no loops are merged, and no items are widened.
DevicePlan sparse_plan(int loops, std::int64_t width, bool is_dense) {
  const std::vector<std::int64_t> extents(static_cast<std::size_t>(loops), 6);
  const Selection s = *Selection::from_index(extents, testing::repeated(extents.size(), SliceRange{{}, {}, 2}));
  Layout dx = contiguous_layout(s.shape(), width);
  for (int axis = 0; axis < loops && !is_dense; ++axis) dx.strides[axis] *= 2;
  const Plan plan = plan_scatter(s, dx, contiguous_layout(s.result_shape(), width), Widen::Yes);
  return device_plans(plan, made_up(kX), made_up(kY)).at(0);
}

// A quarter of 2^22 items at most, of sixteen bytes each.
DevicePlan large_plan(int loops) {
  std::vector<std::int64_t> extents(static_cast<std::size_t>(loops), 4);
  extents[0] = std::int64_t{1} << (22 - 2 * (loops - 1));
  Index index = testing::repeated(extents.size(), SliceRange{{}, {}, 2});
  index[0] = SliceRange{{}, {}, 4};
  const Selection s = *Selection::from_index(extents, index);
  const Plan plan =
      plan_scatter(s, contiguous_layout(s.shape(), 16), contiguous_layout(s.result_shape(), 16), Widen::Yes);
  return device_plans(plan, made_up(kX), made_up(kY)).at(0);
}

TEST(FillVariants, ZerosAreWrittenApartWhereLittleIsTaken) {
  const auto name_of = [](Ints shape, std::string_view index) {
    return to_string(fill_variant(gradient_plans(shape, index, made_up(kX), made_up(kY)).at(0)));
  };
  EXPECT_EQ(name_of({4096, 128, 2048}, ":, 64"), "zeros_apart_of_16_loops_2");
  EXPECT_EQ(name_of({4096, 128, 2048}, ":, :32"), "zeros_apart_of_16_loops_2");
  EXPECT_EQ(name_of({4096, 128, 2048}, ":, :33"), "chunks_of_16_loops_2");
  EXPECT_EQ(name_of({4096, 128, 2048}, ":, :0"), "chunks_of_16_loops_1") << "nothing is taken";
  EXPECT_EQ(name_of({128, 2048}, "64"), "chunks_of_16_loops_1") << "too small for it to matter";
  EXPECT_EQ(name_of({1 << 20, 63}, ":, 3"), "chunks_of_1_loops_1") << "narrow items";
}

TEST(FillVariants, EachIsTheBestForSomePlan) {
  std::vector<std::string> chosen, all;
  for (const FillVariant& variant : kFillVariants) {
    const int loops = variant.loops == 0 ? 4 : variant.loops;
    const DevicePlan plan = variant.grain == Grain::Apart
                                ? large_plan(loops)
                                : sparse_plan(loops, variant.width, variant.grain == Grain::Chunk);
    all.push_back(to_string(variant));
    chosen.push_back(to_string(fill_variant(plan)));
  }
  EXPECT_EQ(chosen, all);
}

}  // namespace
}  // namespace backslice::cuda
