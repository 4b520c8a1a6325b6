// Many slices in one pass, in every way the kernel can run, against one slice after the other.
#include <array>
#include <atomic>
#include <deque>

#include "kernel_contexts.h"
#include "kernels/slice/kernel.h"
#include "kernels/tiles/device_tiles.h"
#include "kernels/tiles/kernel.h"
#include "testing.h"

namespace backslice {
namespace {

// -- The slices element by element: the first contribution to an element is copied, later ones are added, in the order
// of the list; or each slice is copied, in that order. Zero where there is none.

// Calls body(position in dst's shape, element of dy) for each element of a slice.
template <class Body>
void for_each_element(const Selection& selection, const ConstView& dy, const Body& body) {
  if (dy.elements() == 0) return;
  Dims at;
  for (int axis = 0; axis < dy.shape().rank(); ++axis) at.push_back(0);
  while (true) {
    Dims position;
    for (int axis = 0; axis < selection.shape().rank(); ++axis) position.push_back(selection.axis(axis).start);
    const std::byte* element = dy.data;
    for (int i = 0; i < at.size(); ++i) {
      element += at[i] * dy.layout.strides[i];
      const std::int64_t axis = selection.result_axes()[static_cast<std::size_t>(i)];
      if (axis != Selection::kNewAxis) position[axis] += at[i] * selection.axis(static_cast<int>(axis)).step;
    }
    body(position, element);
    int axis = at.size() - 1;
    while (axis >= 0 && ++at[axis] == dy.shape()[axis]) at[axis--] = 0;
    if (axis < 0) return;
  }
}

void zero(const View& dst) { reference::overwrite(plan_zero(dst.layout, Widen::No), dst.dtype, dst.data, dst.data); }

void write_slices(std::span<const SliceGradient> slices, const View& dst) {
  zero(dst);
  for (const auto& [selection, dy] : slices) {
    for_each_element(selection, dy, [&](const Dims& position, const std::byte* element) {
      std::byte* to = dst.data;
      for (int axis = 0; axis < position.size(); ++axis) to += position[axis] * dst.layout.strides[axis];
      operations_of(dst.dtype).copy(to, element, 1, dst.layout.item_size);
    });
  }
}

void sum_slices(std::span<const SliceGradient> slices, const View& dst) {
  const ItemOperations& items = operations_of(dst.dtype);
  zero(dst);
  std::vector<bool> covered(static_cast<std::size_t>(dst.elements()));
  for (const auto& [selection, dy] : slices) {
    for_each_element(selection, dy, [&](const Dims& position, const std::byte* element) {
      std::byte* to = dst.data;
      std::size_t flat = 0;
      for (int axis = 0; axis < position.size(); ++axis) {
        to += position[axis] * dst.layout.strides[axis];
        flat = flat * static_cast<std::size_t>(dst.shape()[axis]) + static_cast<std::size_t>(position[axis]);
      }
      covered[flat] ? items.add(to, element, 1) : items.copy(to, element, 1, dst.layout.item_size);
      covered[flat] = true;
    });
  }
}

// -- The tests

using namespace testing;

// What the threads of the CUDA kernels do, one after the other, on the CPU.
template <int kWidth, int kRank, bool kAdds>
void sum_rows(const cuda::DeviceTiles& tiles) {
  const std::uint32_t extent = tiles.axis[tiles.rank - 1].extent.divisor;
  constexpr std::uint32_t kRun = 1u << cuda::kRowShift;
  for (std::uint32_t unit = 0; unit < tiles.units; unit += std::min(kRun, extent - unit % extent)) {
    const std::uint32_t first = unit / extent * extent, run = unit - first;
    const std::uint32_t cell = cuda::cell_of(tiles.cells, unit), begin = tiles.first_of_cell[cell];
    std::vector<cuda::RowPart> parts;
    for (std::uint32_t i = begin; i < tiles.first_of_cell[cell + 1]; ++i) {
      parts.push_back(cuda::row_part<kRank>(tiles, i, first));
    }
    ASSERT_LE(parts.size(), cuda::kMostInCell);
    for (std::uint32_t position = run; position < std::min(extent, run + kRun); ++position) {
      const auto count = static_cast<std::uint32_t>(parts.size());
      cuda::sum_in_row<kWidth, kRank, kAdds>(tiles, parts.data(), count, first + position, position);
    }
  }
}

void sum_with(const cuda::TileVariant& variant, const cuda::DeviceTiles& tiles) {
  cuda::with_width_and_count(variant.width, variant.rank, [&]<int kWidth, int kRank>() {
    if (variant.way == cuda::TileWay::Rows) return sum_rows<kWidth, kRank, true>(tiles);
    if (variant.way == cuda::TileWay::RowsApart) return sum_rows<kWidth, kRank, false>(tiles);
    for (std::uint32_t unit = 0; unit < tiles.units; ++unit) cuda::sum_unit<kWidth, kRank>(tiles, unit);
  });
}

// One of the list that can run, another one at every turn.
const cuda::TileVariant& variant_at(std::size_t turn, const cuda::DeviceTiles& tiles) {
  std::vector<const cuda::TileVariant*> able;
  for (const cuda::TileVariant& variant : cuda::kTileVariants) {
    if (variant.can_run(tiles)) able.push_back(&variant);
  }
  return *able[turn % able.size()];
}

// What the tables take, each on an address that 16 divides.
std::int64_t bytes_of(const cuda::TileTables& made) {
  const auto padded = [](const auto& table) { return (table.size() * sizeof(table[0]) + 15) / 16 * 16; };
  return static_cast<std::int64_t>(padded(made.parts) + padded(made.sources) + padded(made.first_of_cell) +
                                   padded(made.slices));
}

// How often each way was taken so far.
std::array<int, 3> taken_by{};
int taken(cuda::TileWay way) { return taken_by[static_cast<std::size_t>(way)]; }

void sum_on_device(const CommonAxes& common, const View& out, Overlap overlap, bool accumulates) {
  static std::size_t turn = 0;
  cuda::Addition addition;
  const bool adds = overlap == Overlap::Added || accumulates;
  if (adds) addition = cuda::addition_of(out.dtype);
  for (const auto& made :
       cuda::tile_tables(common, out.layout.item_size, out.data, adds ? &addition : nullptr, accumulates)) {
    ASSERT_LE(bytes_of(made), cuda::most_table_bytes(common.slices(), out.shape().rank()));
    const cuda::DeviceTiles tiles = made.in_place();
    const cuda::TileVariant& variant = variant_at(turn++, tiles);
    ++taken_by[static_cast<std::size_t>(variant.way)];
    sum_with(variant, tiles);
  }
}

class TilesKernel : public ::testing::TestWithParam<KernelWay> {
 protected:
  // Every byte of the destination's memory is compared, those between elements included.
  void expect_sum(const RandomTensor& dst, const std::vector<SliceGradient>& slices, std::int64_t tile_bytes) {
    const auto sum = run_on_copy(dst, [&](const View& out) { sum_slices(slices, out); });
    const auto written = run_on_copy(dst, [&](const View& out) { write_slices(slices, out); });
    const CommonAxes common = common_axes(slices, dst.view.layout, GetParam().context.tasks);
    if (are_disjoint(common, GetParam().context.tasks)) {
      ASSERT_EQ(sum, written);
      expect_filled(dst, common, Overlap::None, tile_bytes, sum);
    } else {
      expect_filled(dst, common, Overlap::Added, tile_bytes, sum);
    }
    expect_filled(dst, common, Overlap::LastWins, tile_bytes, written);
    expect_accumulated(dst, slices, common);
  }

  void expect_filled(const RandomTensor& dst, const CommonAxes& common, Overlap overlap, std::int64_t tile_bytes,
                     const std::vector<std::byte>& expected) {
    ASSERT_EQ(run_on_copy(dst, [&](const View& out) { sum_on_device(common, out, overlap, false); }), expected);
    for (Write write : {Write::Overwrite, Write::IntoZeros}) {
      const auto got = run_on_copy(dst, [&](const View& out) {
        if (write == Write::IntoZeros) sum_slices({}, out);
        fill_tiles(common, out.dtype, out.layout.item_size, overlap, write, out.data, GetParam().context, tile_bytes);
      });
      const auto differ = std::mismatch(got.begin(), got.end(), expected.begin());
      ASSERT_EQ(got, expected) << "at byte " << differ.first - got.begin() << " of " << got.size()
                               << ", which begins at " << dst.view.data - dst.memory.data() << ": "
                               << to_string(Ints(dst.view.shape())) << " in tiles of " << tile_bytes << " bytes"
                               << (write == Write::IntoZeros ? ", into zeros" : "");
    }
  }

  // The CUDA kernel that adds to what is there, beside one slice after the other.
  void expect_accumulated(const RandomTensor& given, const std::vector<SliceGradient>& slices,
                          const CommonAxes& common) {
    RandomTensor dst = given;
    dst.view.data = dst.memory.data() + (given.view.data - given.memory.data());
    remove_nans(dst.memory);
    const auto expected = run_on_copy(dst, [&](const View& out) {
      for (const auto& [selection, dy] : slices) {
        ASSERT_TRUE(slice_grad_into(selection, dy, out, Write::Accumulate).ok());
      }
    });
    if (dst.view.elements() == 0) return;
    ASSERT_EQ(run_on_copy(dst, [&](const View& out) { sum_on_device(common, out, Overlap::Added, true); }), expected);
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
    const std::int64_t tiles[] = {1, 64, 777, kTuning.tile};
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

// Rows that are long enough for a block of threads of a CUDA kernel, which looks for their slices once.
TEST_P(TilesKernel, SumsLongRows) {
  std::mt19937 random(24);
  for (int i = 0; i < 6; ++i) {
    const Dims dims(std::vector<std::int64_t>{5, 12, 520 + i % 2});  // whole rows are one run with the axis around them
    const Shape shape = *Shape::make(dims);
    RandomTensor dst = contiguous_tensor(random, DType::Float32, dims);
    std::deque<RandomTensor> sources;
    std::vector<SliceGradient> slices;
    for (int k = 0; k < 20; ++k) {
      const std::int64_t at = static_cast<std::int64_t>(random() % 12);
      const Selection selection = *Selection::from_index(
          shape, {SliceRange{}, SliceRange{at, at + 2}, i < 3 ? SliceRange{} : SliceRange{k % 3, {}, 1 + k % 4}});
      sources.push_back(contiguous_tensor(random, DType::Float32, selection.result_shape()));
      remove_nans(sources.back().memory);
      slices.push_back({selection, sources.back().view});
    }
    expect_sum(dst, slices, kTuning.tile);
  }
  EXPECT_GT(taken(cuda::TileWay::Rows), 0);
  EXPECT_GT(taken(cuda::TileWay::Units), 0);
}

// Time steps of a sequence, some of them missing and some taken in part.
TEST_P(TilesKernel, WritesLongRowsThatDoNotMeet) {
  std::mt19937 random(25);
  for (int i = 0; i < 6; ++i) {
    const Dims dims(std::vector<std::int64_t>{5, 12, 1032 + i % 2});
    const Shape shape = *Shape::make(dims);
    RandomTensor dst = aligned_tensor(random, DType::Float32, dims);
    std::deque<RandomTensor> sources;
    std::vector<SliceGradient> slices;
    for (std::int64_t step : {7, 0, 11, 4, 3, 9}) {
      const SliceRange part = step % 2 == 0 ? SliceRange{} : SliceRange{step, {}, 1 + i % 3};
      const Selection selection = *Selection::from_index(shape, {SliceRange{}, step, part});
      sources.push_back(aligned_tensor(random, DType::Float32, selection.result_shape()));
      slices.push_back({selection, sources.back().view});
    }
    expect_sum(dst, slices, kTuning.tile);
  }
  EXPECT_GT(taken(cuda::TileWay::RowsApart), 0);
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
    fill_tiles(common, DType::Float32, 4, Overlap::None, Write::Overwrite, dst.view.data, context, 512);
    return allocator.calls.load();
  };
  EXPECT_EQ(calls_for(dims, "1:50, ::2"), 1);
  EXPECT_EQ(calls_for(dims, "3:7"), 0);
}

TEST(TileTables, TakeHardlyLessThanIsToldAhead) {
  const Shape shape = *Shape::make({3, 5001, 6});
  std::vector<float> dy(3 * 9 * 5), dx(static_cast<std::size_t>(shape.elements()));
  const View out = view_of(dx, shape);
  std::vector<SliceGradient> slices;
  for (std::int64_t t = 0; t < 4990; ++t) {
    const Index index = {SliceRange{}, SliceRange{t, t + 9}, SliceRange{1, {}}};
    slices.push_back({*Selection::from_index(shape, index), view_of(dy, {3, 9, 5})});
  }
  const TaskRunner runner(serial_executor());
  const cuda::Addition addition = cuda::addition_of(DType::Float32);
  const auto made = cuda::tile_tables(common_axes(slices, out.layout, runner), 4, out.data, &addition, false);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_LE(bytes_of(made[0]), cuda::most_table_bytes(4990, 3));
  EXPECT_GT(2 * bytes_of(made[0]), cuda::most_table_bytes(4990, 3));
}

// -- Tables for destinations that are too large for a test to hold: addresses are made up, and nothing is touched.

constexpr std::uintptr_t kDx = std::uintptr_t{1} << 20;

struct LargeSum {
  Shape shape;
  std::vector<SliceGradient> slices;  // of bytes
};

LargeSum large_sum(Ints dims, const std::vector<Index>& indices) {
  LargeSum made{*Shape::make(dims), {}};
  for (const Index& index : indices) {
    const Selection s = *Selection::from_index(made.shape, index);
    const auto* dy = reinterpret_cast<const std::byte*>((made.slices.size() + 1) << 42);
    made.slices.push_back({s, ConstView::contiguous(dy, DType::Int8, s.result_shape()).value()});
  }
  return made;
}

// Where the slices have the byte of the destination, in the order of the list, by their definition.
std::vector<const std::byte*> sources_by_definition(const LargeSum& sum, std::int64_t flat) {
  std::vector<std::int64_t> at(static_cast<std::size_t>(sum.shape.rank()));
  for (int axis = sum.shape.rank(); axis-- > 0; flat /= sum.shape[axis]) {
    at[static_cast<std::size_t>(axis)] = flat % sum.shape[axis];
  }
  std::vector<const std::byte*> sources;
  for (const auto& [s, dy] : sum.slices) {
    std::int64_t offset = 0;
    bool is_taken = true;
    for (int axis = 0; axis < s.shape().rank(); ++axis) {  // all are kept in the result
      const auto& [start, step, count] = s.axis(axis);
      const std::int64_t from_start = at[static_cast<std::size_t>(axis)] - start;
      is_taken = is_taken && from_start % step == 0 && from_start / step >= 0 && from_start / step < count;
      offset = offset * count + from_start / step;
    }
    if (is_taken) sources.push_back(dy.data + offset);
  }
  return sources;
}

// The same as a thread finds them.
std::vector<const std::byte*> sources_in_tables(const cuda::DeviceTiles& tiles, std::uint32_t unit) {
  std::vector<const std::byte*> sources;
  const std::uint32_t cell = cuda::cell_of(tiles.cells, unit);
  for (std::uint32_t i = tiles.first_of_cell[cell]; i < tiles.first_of_cell[cell + 1]; ++i) {
    if (const std::byte* source = cuda::source_of<0>(tiles, tiles.slices[i], unit)) sources.push_back(source);
  }
  return sources;
}

void expect_tables(const LargeSum& sum, bool accumulates) {
  const Layout dst = contiguous_layout(sum.shape, 1);
  const CommonAxes common = common_axes(sum.slices, dst, TaskRunner(serial_executor()));
  const cuda::Addition addition = cuda::addition_of(DType::Int8);
  const auto made = cuda::tile_tables(common, 1, reinterpret_cast<std::byte*>(kDx), &addition, accumulates);
  EXPECT_GT(made.size(), 1u);
  std::mt19937 random(31);
  std::int64_t first = 0;  // of the next part
  for (const cuda::TileTables& part : made) {
    const cuda::DeviceTiles tiles = part.in_place();
    ASSERT_LT(tiles.units, std::uint32_t{1} << 31);
    EXPECT_EQ(tiles.accumulates, accumulates);
    for (int i = 0; i < 300; ++i) {
      const std::uint32_t unit = i < 2 ? i * (tiles.units - 1) : static_cast<std::uint32_t>(random()) % tiles.units;
      const std::int64_t at = first + std::int64_t{unit} * tiles.width;
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(cuda::place_of<0>(tiles, unit)) - kDx, static_cast<std::uint64_t>(at));
      ASSERT_EQ(sources_in_tables(tiles, unit), sources_by_definition(sum, at)) << "at " << at;
    }
    first += std::int64_t{tiles.units} * tiles.width;
  }
  EXPECT_EQ(first, sum.shape.elements());
}

TEST(TileTables, SumsOfMoreUnitsThanPositionsAreCut) {
  constexpr std::int64_t kGi = 1 << 30;
  const SliceRange all;
  const LargeSum sums[] = {
      large_sum({5 * kGi + 3}, {{SliceRange{1, {}}},
                                {SliceRange{0, {}, 3}},
                                {SliceRange{{}, 3 * kGi, 7}},
                                {SliceRange{2 * kGi - 9, 2 * kGi + 9}},
                                {SliceRange{4 * kGi + 1, {}, kGi / 2}}}),
      large_sum({6, kGi + 7}, {{SliceRange{0, 3}, SliceRange{5, {}}},
                               {SliceRange{2, 6}, SliceRange{1, {}, 3}},
                               {SliceRange{{}, {}, 2}, all},
                               {SliceRange{1, 5}, SliceRange{kGi, {}}}}),
      large_sum({3, 12 * kGi}, {{SliceRange{0, 2}, SliceRange{0, 5 * kGi}}, {SliceRange{1, 3}, SliceRange{kGi, {}}}}),
  };
  for (const LargeSum& sum : sums) {
    for (bool accumulates : {false, true}) expect_tables(sum, accumulates);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, TilesKernel, ::testing::ValuesIn(kernel_ways()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace backslice
