// What the kernels of concatenation do on a CUDA device, thread by thread on the CPU, against the reference.
#include <numeric>

#include "kernels/concat/device_segments.h"
#include "kernels/concat/segment_list.h"
#include "testing.h"

namespace backslice::cuda {
namespace {

using namespace backslice::testing;

// -- The kernels: the threads of a block one after the other, in any order, each as far as the next barrier

// Memory that threads share holds anything at first.
template <class Shared>
std::unique_ptr<Shared> shared_memory() {
  auto made = std::make_unique<Shared>();
  std::memset(static_cast<void*>(made.get()), 0xa5, sizeof(Shared));
  return made;
}

// Which way tiles went.
struct Ways {
  int staged = 0, found = 0, found_in_table = 0;
};

class BlockOnCpu {
 public:
  explicit BlockOnCpu(std::mt19937& random) : threads_(kSegmentThreads) {
    std::iota(threads_.begin(), threads_.end(), 0);
    std::shuffle(threads_.begin(), threads_.end(), random);
  }

  template <int kUnit>
  void copy(const SegmentTable& table, std::int64_t tile, bool writes_zeros, Ways& ways) const {
    const auto kept = shared_memory<KeptSegments>();
    const TileSegments segments(table, tile, *kept);
    bool any_is_long = false;
    for (int thread : threads_) any_is_long |= segments.keep(thread);
    if (!writes_zeros || !segments.are_short(any_is_long)) {
      ++(segments.count() > kMostKept ? ways.found_in_table : ways.found);
      for (int thread : threads_) copy_vectors<kUnit>(segments, thread, writes_zeros);
      return;
    }
    ++ways.staged;
    const auto staged = shared_memory<StagedTile>();
    for (int thread : threads_) stage_segments<kUnit>(segments, *staged, thread);
    for (int thread : threads_) write_staged<kUnit>(segments, *staged, thread);
  }

  template <int kBytes>
  void add(const SegmentTable& table, std::int64_t tile, const Addition& addition, SegmentSums sums) const {
    const auto kept = shared_memory<KeptSegments>();
    const TileSegments segments(table, tile, *kept);
    for (int thread : threads_) segments.keep(thread);
    for (int thread : threads_) sum_items<kBytes>(table, segments, tile, addition, sums, thread);
  }

 private:
  std::vector<int> threads_;
};

// -- Segments, each in a block of memory that is as large as it, so that reads outside are seen by a sanitizer

class Pieces {
 public:
  explicit Pieces(std::mt19937& random) : random_(random) {}

  // `offset`: how far its first byte lies from an address where vectors are aligned.
  void copy(std::int64_t length, std::int64_t offset) {
    segments.push_back({memory(length, offset), length});
    bytes += length;
  }
  void zeros(std::int64_t length) {
    segments.push_back({nullptr, length});
    bytes += length;
  }
  // To the last of them.
  void add(std::size_t terms, std::int64_t offset) {
    sums.push_back({segments.size() - 1, {}});
    for (; terms > 0; --terms) sums.back().terms.push_back(memory(segments.back().bytes, offset));
  }

  std::vector<Segment> segments;
  std::vector<Sum> sums;
  std::int64_t bytes = 0;

 private:
  const std::byte* memory(std::int64_t length, std::int64_t offset) {
    std::vector<std::byte>& made = memory_.emplace_back(static_cast<std::size_t>(offset + length));
    for (std::byte& b : made) b = static_cast<std::byte>(random_());
    remove_nans(made);
    return made.data() + offset;
  }

  std::mt19937& random_;
  std::vector<std::vector<std::byte>> memory_;
};

// Segments whose addresses and sizes are multiples of `unit`, about a third of them zeros.
Pieces random_pieces(std::mt19937& random, std::int64_t unit, std::int64_t longest, std::int64_t bytes) {
  Pieces pieces(random);
  const auto below = [&](std::int64_t end) { return static_cast<std::int64_t>(random()) % end; };
  while (pieces.bytes < bytes) {
    const std::int64_t length = (1 + below(longest / unit)) * unit;
    const std::int64_t offset = below(2) * below(32 / unit) * unit;  // half of them at the first byte of a block
    random() % 3 == 0 ? pieces.zeros(length) : pieces.copy(length, offset);
  }
  return pieces;
}

// Where they are written, with bytes around it that nobody may touch.
struct Destination {
  Destination(const Pieces& pieces, std::int64_t lead)
      : memory(static_cast<std::size_t>(64 + lead + pieces.bytes + 33), std::byte{0x2a}),
        dst(memory.data() + 64 + lead) {}

  std::vector<std::byte> memory;
  std::byte* dst;
};

class SegmentKernels : public ::testing::Test {
 protected:
  // By every unit that divides all addresses and sizes.
  void expect_copied(const Pieces& pieces, std::int64_t lead) {
    for (const Write write : {Write::Overwrite, Write::IntoZeros}) {
      const Destination expected(pieces, lead);
      reference::concat(expected.dst, pieces.segments, DType::UInt8, 1, {}, write);
      for (const int unit : kCopyUnits) {
        const Destination got(pieces, lead);
        const SegmentList list(got.dst, pieces.segments, {});
        ASSERT_EQ(list.bytes(), pieces.bytes);
        if (!list.is_multiple_of(unit)) continue;
        copy(list, got.dst, unit, write);
        ASSERT_EQ(got.memory, expected.memory) << "unit " << unit << ", lead " << lead;
      }
    }
  }

  // By every width that divides all addresses and sizes, and by that of a number in any case.
  void expect_added(const Pieces& pieces, std::int64_t lead, DType dtype, Write write) {
    const std::vector<Sum> sums = write == Write::Accumulate ? std::vector<Sum>() : pieces.sums;
    const Destination expected(pieces, lead);
    reference::concat(expected.dst, pieces.segments, dtype, item_size(dtype), sums, write);
    const Addition addition = addition_of(dtype);
    for (int width = addition.width; width <= 16; width *= 2) {
      const Destination got(pieces, lead);
      const SegmentList list(got.dst, pieces.segments, sums);
      if (width > list.added_at_once(addition.width)) continue;
      add(list, got.dst, addition, width, write);
      ASSERT_EQ(got.memory, expected.memory) << name(dtype) << ", width " << width << ", lead " << lead;
      widths_[list.is_multiple_of(width)] |= width;
    }
  }

  std::mt19937 random_{61};
  Ways ways_;
  int widths_[2] = {0, 0};  // that were added at once, unaligned and aligned

 private:
  void copy(const SegmentList& list, std::byte* dst, int unit, Write write) {
    const std::vector<std::int64_t> packed = list.packed();
    const SegmentTable table = list.table(dst, reinterpret_cast<const std::byte*>(packed.data()));
    const BlockOnCpu block(random_);
    visit_width(unit, [&]<int kUnit>() {
      for (std::int64_t tile = 0; tile < list.tiles(); ++tile) {
        block.copy<kUnit>(table, tile, write == Write::Overwrite, ways_);
      }
    });
  }

  void add(const SegmentList& list, std::byte* dst, const Addition& addition, int width, Write write) {
    const std::vector<std::int64_t> packed = list.packed();
    const SegmentTable table = list.table(dst, reinterpret_cast<const std::byte*>(packed.data()));
    const BlockOnCpu block(random_);
    const SegmentSums sums = write == Write::Accumulate ? SegmentSums::AddTo : SegmentSums::Write;
    visit_width(width, [&]<int kBytes>() {
      for (std::int64_t tile = 0; tile < list.tiles(); ++tile) {
        block.add<kBytes>(table, tile, addition, sums);
      }
    });
  }
};

TEST_F(SegmentKernels, CopyByEveryUnitToEveryAddress) {
  for (const std::int64_t unit : {1, 2, 4, 16}) {
    for (std::int64_t lead = 0; lead < 32; lead += unit) {
      for (const std::int64_t longest : {16, 60, 700}) {
        expect_copied(random_pieces(random_, unit, longest, 3000 + 20000 * (lead % 3 == 0)), lead);
      }
    }
  }
  EXPECT_GT(ways_.staged, 100);
  EXPECT_GT(ways_.found, 100);
  EXPECT_GT(ways_.found_in_table, 100);
}

TEST_F(SegmentKernels, CopySegmentsThatAreShorterThanAVector) {
  for (const std::int64_t bytes : {1, 2, 3, 5, 15}) {
    Pieces pieces(random_);
    while (pieces.bytes < 20'000) pieces.segments.size() % 3 == 2 ? pieces.zeros(bytes) : pieces.copy(bytes, 0);
    expect_copied(pieces, 0);
    expect_copied(pieces, 7);
  }
  EXPECT_GT(ways_.found_in_table, 0);
}

TEST_F(SegmentKernels, CopySegmentsThatAreLongerThanATile) {
  for (const std::int64_t unit : {1, 2, 4, 16}) {
    Pieces pieces(random_);
    pieces.copy(unit, 0);
    pieces.copy(3 * kTileBytes + 5 * unit, unit);
    pieces.zeros(2 * kTileBytes);
    pieces.copy(kTileBytes - unit, 0);
    for (const std::int64_t lead : {std::int64_t{0}, unit, 3 * unit}) expect_copied(pieces, lead);
  }
  EXPECT_EQ(ways_.staged, 0);
}

// Of as many segments as a tile gathers in shared memory, or one more or less; and as many as it keeps there.
TEST_F(SegmentKernels, CopyAroundTheNumbersOfSegmentsThatDecideHow) {
  for (const std::int64_t count : {1, 2, 14, 15, 16, 17, 255, 256, 257, 511, 512, 513}) {
    for (const std::int64_t lead : {0, 4}) {
      Pieces pieces(random_);
      const std::int64_t length = (kTileBytes - 16) / count / 4 * 4;
      for (std::int64_t i = 0; i < count; ++i) i % 4 == 3 ? pieces.zeros(length) : pieces.copy(length, 4);
      expect_copied(pieces, lead);
    }
  }
  EXPECT_GT(ways_.staged, 0);
  EXPECT_GT(ways_.found_in_table, 0);
}

// A tile's end falls before, on and behind that of a segment.
TEST_F(SegmentKernels, CopySegmentsThatEndWhereTilesDo) {
  for (std::int64_t before = kTileBytes - 17; before <= kTileBytes + 17; ++before) {
    for (const std::int64_t lead : {0, 5}) {
      Pieces pieces(random_);
      while (pieces.bytes + 300 < before) pieces.copy(300, pieces.bytes % 32);
      pieces.copy(before - pieces.bytes, 3);
      for (int i = 0; i < 20; ++i) pieces.copy(60, 0);
      expect_copied(pieces, lead);
    }
  }
}

constexpr DType kAdded[] = {DType::Float32, DType::Int64,        DType::BFloat16,  DType::UInt8,     DType::Float16,
                            DType::Float64, DType::Float8E4M3FN, DType::Complex64, DType::Complex128};

// Addresses that are multiples of the size of an item, or are not.
TEST_F(SegmentKernels, AddInTheOrderOfTheTermsAndToWhatIsThere) {
  for (int i = 0; i < 90; ++i) {
    const DType dtype = kAdded[static_cast<std::size_t>(i) % std::size(kAdded)];
    const std::int64_t size = item_size(dtype), unit = i % 4 == 0 ? 1 : i % 4 == 1 ? 16 : size;
    const std::int64_t step = std::max(size, unit), longest = i % 5 == 0 ? 40'000 : 90;
    const auto somewhere = [&] { return static_cast<std::int64_t>(random_() % 2 * (random_() % 32)) / unit * unit; };
    Pieces pieces(random_);
    for (std::size_t count = 1 + random_() % 60; count > 0 && pieces.bytes < 60'000; --count) {
      const std::int64_t bytes = (1 + static_cast<std::int64_t>(random_()) % (1 + longest / step)) * step;
      if (random_() % 3 == 0) {
        pieces.zeros(bytes);
        continue;
      }
      pieces.copy(bytes, somewhere());
      if (random_() % 3 == 0) pieces.add(1 + random_() % 5, somewhere());
    }
    const std::int64_t lead = somewhere();
    expect_added(pieces, lead, dtype, Write::Accumulate);
    if (!pieces.sums.empty()) expect_added(pieces, lead, dtype, Write::Overwrite);
  }
  EXPECT_EQ(widths_[false], 2 | 4 | 8);
  EXPECT_EQ(widths_[true], 1 | 2 | 4 | 8 | 16);
}

// Items that lie across the end of a tile belong to the tile that they begin in.
TEST_F(SegmentKernels, AddItemsAcrossTheEndOfATile) {
  for (std::int64_t lead = 0; lead < 16; ++lead) {
    Pieces pieces(random_);
    pieces.copy(kTileBytes + 800, lead);
    pieces.copy(kTileBytes + 808, 1);
    pieces.add(2, 3);
    expect_added(pieces, lead, DType::Float64, Write::Overwrite);
    expect_added(pieces, lead, DType::Float64, Write::Accumulate);
  }
}

TEST(SegmentList, NeighboursAreOneSegmentAndEmptyOnesNone) {
  std::vector<std::byte> memory(100), dst(100);
  const std::byte* m = memory.data();
  const std::vector<Segment> segments = {{m, 10},      {m + 50, 0}, {m + 10, 5}, {nullptr, 3},
                                         {nullptr, 4}, {m + 22, 8}, {m + 40, 8}};
  const SegmentList list(dst.data(), segments, {});
  EXPECT_EQ(list.count(), 4);
  EXPECT_EQ(list.bytes(), 38);
  EXPECT_FALSE(list.is_multiple_of(2));
  const std::vector<Sum> sums = {{2, {m + 60}}};
  EXPECT_EQ(SegmentList(dst.data(), segments, sums).count(), 5);
  EXPECT_EQ(SegmentList(dst.data(), {}, {}).tiles(), 0);
}

TEST(UnalignedItems, AreTheBytesThere) {
  std::byte memory[40], copy[40] = {};
  for (int i = 0; i < 40; ++i) memory[i] = static_cast<std::byte>(0x91 + 3 * i);
  for (int at = 0; at < 20; ++at) {
    store_item<16>(copy + at, load_item<16>(memory + at));
    EXPECT_EQ(std::memcmp(copy + at, memory + at, 16), 0);
    store_item<2>(copy + at, load_item<2>(memory + at));
    EXPECT_EQ(std::memcmp(copy + at, memory + at, 2), 0);
  }
}

}  // namespace
}  // namespace backslice::cuda
