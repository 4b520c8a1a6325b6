// The tables of segments that a CUDA kernel reads, run on the CPU thread by thread, beside the reference.
#include "kernels/concat/segment_list.h"
#include "kernels/cuda/addition.h"
#include "kernels/cuda/unaligned.h"
#include "testing.h"

namespace backslice::cuda {
namespace {

using namespace backslice::testing;

std::vector<std::byte> random_bytes(std::mt19937& random, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  remove_nans(bytes);
  return bytes;
}

// Item by item, each found from its tile as a thread finds it.
void run(const SegmentTable& table, std::int64_t tiles, DType dtype, Write write) {
  const Addition addition = can_add(dtype) ? addition_of(dtype) : Addition{};
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    for (std::int64_t at = tile_begin(table, tile); at < tile_begin(table, tile + 1); ++at) {
      const auto begin = [&](std::int64_t i) { return table.begin[i]; };
      const std::int64_t segment = segment_at(begin, table.first[tile], table.first[tile + 1], at);
      ASSERT_LE(table.begin[segment], at);
      ASSERT_GT(table.begin[segment + 1], at);
      const std::int64_t offset = at - table.begin[segment];
      if (offset % addition.width != 0) continue;
      const std::byte* source = table.source[segment];
      const auto on_items = [&]<int kBytes>() {
        Item<kBytes> sum{};
        if (source != nullptr) sum = load_item<kBytes>(source + offset, false);
        if (write == Write::Accumulate) {
          if (source == nullptr) return;
          sum = sums_of<kBytes>(addition, load_item<kBytes>(table.dst + at, false), sum);
        }
        if (source == nullptr && write != Write::Overwrite) return;
        for (std::int64_t t = table.first_term == nullptr ? 0 : table.first_term[segment];
             table.first_term != nullptr && t < table.first_term[segment + 1]; ++t) {
          sum = sums_of<kBytes>(addition, sum, load_item<kBytes>(table.terms[t] + offset, false));
        }
        store_item<kBytes>(table.dst + at, sum, false);
      };
      switch (addition.width) {
        case 8: on_items.operator()<8>(); break;
        case 4: on_items.operator()<4>(); break;
        case 2: on_items.operator()<2>(); break;
        default: on_items.operator()<1>();
      }
    }
  }
}

TEST(SegmentList, HoldsWhatTheReferenceWrites) {
  std::mt19937 random(61);
  const auto source = random_bytes(random, 1 << 17);
  constexpr DType kTypes[] = {DType::Float32, DType::Int64,   DType::BFloat16,    DType::UInt8,
                              DType::Float16, DType::Float64, DType::Float8E4M3FN};
  for (int i = 0; i < 60; ++i) {
    const DType dtype = kTypes[random() % std::size(kTypes)];
    const std::int64_t size = item_size(dtype);
    std::vector<Sum> sums;
    std::vector<Segment> segments;
    const std::byte* last_end = source.data();
    for (std::size_t count = random() % 60; count > 0; --count) {
      const std::int64_t most = random() % 9 == 0 ? 40000 : 60;
      const std::int64_t bytes = static_cast<std::int64_t>(random()) % (most / size + 1) * size;
      const auto somewhere = [&] {
        return source.data() + random() % (source.size() - static_cast<std::size_t>(bytes));
      };
      const bool goes_on = random() % 3 == 0 && last_end + bytes < source.data() + source.size();
      segments.push_back({random() % 3 == 0 ? nullptr : goes_on ? last_end : somewhere(), bytes});
      if (segments.back().first == nullptr) continue;
      last_end = segments.back().first + bytes;
      if (random() % 3 != 0) continue;
      sums.push_back({segments.size() - 1, {}});
      for (std::size_t terms = 1 + random() % 7; terms > 0; --terms) sums.back().terms.push_back(somewhere());
    }
    for (const Write write : {Write::Overwrite, Write::IntoZeros, Write::Accumulate}) {
      const std::vector<Sum> used = write == Write::Overwrite ? sums : std::vector<Sum>();
      std::int64_t bytes = 0;
      for (const Segment& segment : segments) bytes += segment.bytes;
      std::vector<std::byte> expected(static_cast<std::size_t>(bytes + 200), std::byte{0x2a}), got = expected;
      const std::size_t lead = random() % 20;
      reference::concat(expected.data() + lead, segments, dtype, size, used, write);
      const SegmentList list(got.data() + lead, segments, used);
      ASSERT_EQ(list.bytes(), bytes);
      const std::vector<std::int64_t> packed = list.packed();
      run(list.table(got.data() + lead, reinterpret_cast<const std::byte*>(packed.data())), list.tiles(), dtype, write);
      ASSERT_EQ(got, expected);
    }
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
    store_item<16>(copy + at, load_item<16>(memory + at, false), false);
    EXPECT_EQ(std::memcmp(copy + at, memory + at, 16), 0);
    store_item<2>(copy + at, load_item<2>(memory + at, false), false);
    EXPECT_EQ(std::memcmp(copy + at, memory + at, 2), 0);
  }
}

}  // namespace
}  // namespace backslice::cuda
