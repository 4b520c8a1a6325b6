// Many slices in one pass, in every way the kernel can run, against one slice after the other.
#include <atomic>
#include <deque>

#include "kernel_contexts.h"
#include "kernels/tiles/kernel.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

class TilesKernel : public ::testing::TestWithParam<KernelWay> {
 protected:
  // Every byte of the destination's memory is compared, those between elements included.
  void expect_sum(const RandomTensor& dst, const std::vector<SliceGradient>& slices, std::int64_t tile_bytes) {
    const auto expected = run_on_copy(dst, [&](const View& out) { reference::sum_slices(slices, out); });
    const CommonAxes common = common_axes(slices, dst.view.layout, GetParam().context.tasks);
    const bool disjoint = are_disjoint(common, GetParam().context.tasks);
    for (Write write : {Write::Overwrite, Write::IntoZeros}) {
      const auto got = run_on_copy(dst, [&](const View& out) {
        if (write == Write::IntoZeros) reference::sum_slices({}, out);
        fill_tiles(common, out.dtype, out.layout.item_size, disjoint, write, out.data, GetParam().context, tile_bytes);
      });
      const auto differ = std::mismatch(got.begin(), got.end(), expected.begin());
      ASSERT_EQ(got, expected) << "at byte " << differ.first - got.begin() << " of " << got.size()
                               << ", which begins at " << dst.view.data - dst.memory.data() << ": "
                               << to_string(Ints(dst.view.shape())) << " in tiles of " << tile_bytes << " bytes"
                               << (write == Write::IntoZeros ? ", into zeros" : "");
    }
  }
};

TEST_P(TilesKernel, SumsWhateverMeets) {
  std::mt19937 random(21);
  constexpr DType kTypes[] = {DType::Float32, DType::Int64,      DType::BFloat16,     DType::Float16,
                              DType::UInt8,   DType::Complex128, DType::Float8E4M3FN, DType::Float8E8M0FNU};
  for (int i = 0; i < 60; ++i) {
    const DType dtype = kTypes[random() % std::size(kTypes)];
    Dims dims;
    for (std::size_t rank = random() % 4; rank > 0; --rank)
      dims.push_back(1 + static_cast<std::int64_t>(random() % 12));
    const Shape shape = *Shape::make(dims);
    RandomTensor dst = random() % 2 == 0 ? random_tensor(random, dtype, dims) : contiguous_tensor(random, dtype, dims);
    std::deque<RandomTensor> sources;
    std::vector<SliceGradient> slices;
    for (std::size_t count = random() % 24; count > 0; --count) {
      const Selection selection = random_slice_of(random, shape);
      sources.push_back(random_tensor(random, dtype, selection.result_shape()));
      remove_nans(sources.back().memory);
      slices.push_back({selection, sources.back().view});
    }
    const std::int64_t tiles[] = {1, 64, 777, kTileBytes};
    expect_sum(dst, slices, tiles[random() % 4]);
  }
}

// Rows next to each other are runs of bytes, which are not composed but written as they are.
TEST_P(TilesKernel, WritesRunsThatDoNotMeet) {
  std::mt19937 random(22);
  for (std::int64_t width : {1, 7, 300}) {
    const Dims dims(std::vector<std::int64_t>{40, width});
    RandomTensor dst = contiguous_tensor(random, DType::Float32, dims);
    std::deque<RandomTensor> sources;
    std::vector<SliceGradient> slices;
    for (std::int64_t row : {30, 3, 4, 17, 39}) {
      const Selection selection = *Selection::from_index(dims, {SliceRange{row, row + 1}});
      sources.push_back(contiguous_tensor(random, DType::Float32, selection.result_shape()));
      slices.push_back({selection, sources.back().view});
    }
    for (std::int64_t tile_bytes : {64, 4096}) expect_sum(dst, slices, tile_bytes);
  }
}

// Whoever drops an axis of one element says nothing of its stride: the rows around it are one run all the same.
TEST(CommonAxes, AxesOfOneElementAreLeftOut) {
  const auto dy = counting<float>(6);
  const std::vector<SliceGradient> slices = {
      {*Selection::from_index({4, 1, 3, 1}, "1:3, 0, :, 0"), view_of(dy, {2, 3})}};
  const Layout dst = contiguous_layout(*Shape::make({4, 1, 3, 1}), 4);
  const CommonAxes common = common_axes(slices, dst, serial_executor());
  ASSERT_EQ(common.rank(), 1);
  EXPECT_EQ(common.axes[0].extent, 12);
  EXPECT_EQ(common.loop(0, 0), (Loop{12, 3, 1, 6, 4, 4}));
}

class CountingAllocator final : public Allocator {
 public:
  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override {
    ++calls;
    return pool_allocator().allocate(bytes, contents);
  }
  std::atomic<int> calls = 0;
};

// Tiles are composed in memory of the caller's allocator, taken once, before anything is written; runs need none.
TEST_P(TilesKernel, TakesMemoryOnceAndOnlyWhereItComposes) {
  std::mt19937 random(23);
  const Dims dims(std::vector<std::int64_t>{60, 40});
  const auto calls_for = [&](Ints shape, const char* index) {
    RandomTensor dst = contiguous_tensor(random, DType::Float32, shape);
    const Selection selection = *Selection::from_index(shape, index);
    const RandomTensor source = contiguous_tensor(random, DType::Float32, selection.result_shape());
    const std::vector<SliceGradient> slices = {{selection, source.view}};
    const KernelContext& way = GetParam().context;
    CountingAllocator allocator;
    const KernelContext context{way.rows, way.stores, way.pieces, way.tasks, allocator};
    const CommonAxes common = common_axes(slices, dst.view.layout, way.tasks);
    fill_tiles(common, DType::Float32, 4, true, Write::Overwrite, dst.view.data, context, 512);
    return allocator.calls.load();
  };
  EXPECT_EQ(calls_for(dims, "1:50, ::2"), 1);
  EXPECT_EQ(calls_for(dims, "3:7"), 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, TilesKernel, ::testing::ValuesIn(kernel_ways()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace backslice
