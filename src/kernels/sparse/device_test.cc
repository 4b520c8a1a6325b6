// The rules that kernels on CUDA devices match rows by, on the CPU, beside the CPU's own matchers.
#include "kernels/cpu/targets.h"
#include "kernels/sparse/device_found.h"
#include "kernels/sparse/device_join.h"
#include "kernels/sparse/device_move.h"
#include "kernels/sparse/matcher.h"
#include "sparse_rules.h"

namespace backslice::cuda {
namespace {

using namespace backslice::testing;
using Int64 = AlignedIndex<std::int64_t>;

IndexList list_of(const std::vector<std::int64_t>& matrix, std::int64_t rows, int rank) {
  IndexList list{};
  list.rows = rows;
  list.rank = rank;
  for (int axis = 0; axis < rank; ++axis) {
    list.data[axis] = reinterpret_cast<const std::byte*>(matrix.data() + axis);
    list.stride[axis] = rank * 8;
  }
  return list;
}

PerColumn columns_of(const Row& row) {
  PerColumn columns{};
  std::copy(row.begin(), row.end(), columns.of);
  return columns;
}

// What find_kernel and check_kernel leave, computed one row after the other.
struct FoundInBox {
  std::vector<bool> in_slice;
  std::int64_t used = 0;
  bool has_parted = false;
};

IndexBounds box_of(const IndexList& list) {
  IndexBounds box;
  for (int axis = 0; axis < list.rank; ++axis) {
    box.low[axis] = kMax, box.high[axis] = kMin;
    for (std::int64_t j = 0; j < list.rows; ++j) {
      box.low[axis] = std::min(box.low[axis], index_at<Int64>(list, j, axis));
      box.high[axis] = std::max(box.high[axis], index_at<Int64>(list, j, axis));
    }
  }
  return box;
}

bool is_in(const IndexBounds& box, const IndexList& input, std::int64_t row, const PerColumn& start) {
  bool inside = true;
  for (int axis = 0; axis < input.rank; ++axis) {
    std::int64_t index = index_at<Int64>(input, row, axis);
    inside &= is_within(index, start.of[axis], box.low[axis], box.high[axis]);
  }
  return inside;
}

// The bounds of that row alone.
IndexBounds bounds_of_row(const IndexList& list, std::int64_t row) {
  IndexBounds bounds;
  for (int axis = 0; axis < list.rank; ++axis) bounds.low[axis] = bounds.high[axis] = index_at<Int64>(list, row, axis);
  return bounds;
}

FoundInBox find_in_box(const IndexList& input, const PerColumn& start, const IndexList& output) {
  const IndexBounds box = box_of(output);
  std::vector<std::uint32_t> words(static_cast<std::size_t>(input.rows / kWordRows32 + 1));
  const auto bit_of = [](std::int64_t row) { return static_cast<int>(row % kWordRows32); };
  const auto word_of = [&](std::int64_t row) -> std::uint32_t& {
    return words[static_cast<std::size_t>(row / kWordRows32)];
  };
  for (std::int64_t row = 0; row < input.rows; ++row) {
    if (is_in(box, input, row, start)) word_of(row) |= std::uint32_t{1} << bit_of(row);
  }
  FoundInBox found;
  std::int64_t before = 0;  // rows that were found before the word
  for (std::int64_t row = 0; row < input.rows; ++row) {
    if (row > 0 && bit_of(row) == 0) before += count_bits(word_of(row - 1));
    const std::int64_t slice_row = slice_row_of(word_of(row), bit_of(row), before);
    const bool is_taken = slice_row != kNoSliceRow && slice_row < output.rows;
    if (is_taken && !is_in(bounds_of_row(output, slice_row), input, row, start)) found.has_parted = true;
    found.in_slice.push_back(is_taken);
    found.used += is_taken;
  }
  return found;
}

TEST(DeviceRules, RowsInTheBoxAreTheSlicesWhereTheyHaveNotParted) {
  std::mt19937 random(51);
  int parted = 0, together = 0;
  for (int i = 0; i < 2000; ++i) {
    const int rank = static_cast<int>(random() % 4);
    const Rows input = random_rows(random, random() % 70, rank, 4, random() % 2 == 0);
    Row start(static_cast<std::size_t>(rank)), size = start;
    for (auto& s : start) s = static_cast<int>(random() % 4) - 1;
    for (auto& s : size) s = static_cast<int>(random() % 5);
    Rows output = window(input, start, size);
    if (random() % 3 == 0 && !output.empty()) output.erase(output.begin() + static_cast<int>(random() % output.size()));
    const List in(input, rank), out(output, rank);
    const IndexList in_list = list_of(in.matrix, in.count, rank), out_list = list_of(out.matrix, out.count, rank);
    const FoundInBox found = find_in_box(in_list, columns_of(start), out_list);
    const Truth truth = in_order(std::vector<float>(output.size(), 1), input, start, output);
    if (found.has_parted) {
      ++parted;
      continue;
    }
    ++together;
    ASSERT_EQ(found.used, truth.used);
    for (std::size_t row = 0; row < input.size(); ++row) ASSERT_EQ(found.in_slice[row], truth.gradient[row] == 1);
  }
  EXPECT_GT(parted, 50);
  EXPECT_GT(together, 500);
}

TEST(DeviceRules, DifferencesThatOverflowAreNoRow) {
  std::int64_t coordinate;
  EXPECT_TRUE(slice_coordinate(kMin, kMin, coordinate) && coordinate == 0);
  EXPECT_TRUE(slice_coordinate(-1, kMax, coordinate) && coordinate == kMin);
  EXPECT_TRUE(slice_coordinate(kMax, 0, coordinate) && coordinate == kMax);
  EXPECT_FALSE(slice_coordinate(kMax, -1, coordinate));
  EXPECT_FALSE(slice_coordinate(kMin, 1, coordinate));
  EXPECT_FALSE(slice_coordinate(-2, kMax, coordinate));
  EXPECT_FALSE(slice_coordinate(0, kMin, coordinate));
  std::int64_t largest = kMax, five = 5, seven = 7;
  EXPECT_FALSE(is_within(largest, -1, kMin, kMax));
  EXPECT_FALSE(is_within(five, 0, 0, -1));
  EXPECT_TRUE(is_within(seven, 4, 3, 3));
  EXPECT_EQ(seven, 3);
}

TEST(DeviceRules, PairsOfColumnsAreReadAtOnce) {
  alignas(16) const std::int64_t wide[] = {kMin, -1, 2, kMax};
  alignas(8) const std::int32_t narrow[] = {-5, 6, 7, -8};
  const auto list_of = [](const auto* data) {
    IndexList list{};
    for (int axis = 0; axis < 2; ++axis) {
      list.data[axis] = reinterpret_cast<const std::byte*>(data + axis);
      list.stride[axis] = 2 * sizeof(*data);
    }
    list.rows = list.rank = 2;
    return list;
  };
  for (std::int64_t row = 0; row < 2; ++row) {
    const IndexPair pair = pair_at<PairedIndex<std::int64_t>>(list_of(wide), row, 0);
    EXPECT_EQ(pair.first, wide[2 * row]);
    EXPECT_EQ(pair.second, wide[2 * row + 1]);
    const IndexPair narrow_pair = pair_at<PairedIndex<std::int32_t>>(list_of(narrow), row, 0);
    EXPECT_EQ(narrow_pair.first, narrow[2 * row]);
    EXPECT_EQ(narrow_pair.second, narrow[2 * row + 1]);
  }
  IndexList single = list_of(wide);
  single.rank = 1;
  EXPECT_EQ(pair_at<AlignedIndex<std::int64_t>>(single, 1, 0).first, 2);
  EXPECT_EQ(pair_at<AlignedIndex<std::int64_t>>(single, 1, 0).second, 0);
}

TEST(DeviceRules, IndicesAreReadFromAnyAddress) {
  std::byte memory[16];
  for (int i = 0; i < 16; ++i) memory[i] = static_cast<std::byte>(0xf0 + i);
  for (int at = 0; at <= 8; ++at) {
    std::int64_t wide;
    std::int32_t narrow;
    std::memcpy(&wide, memory + at, 8);
    std::memcpy(&narrow, memory + at, 4);
    EXPECT_EQ(UnalignedIndex<std::int64_t>::load(memory + at), wide);
    EXPECT_EQ(UnalignedIndex<std::int32_t>::load(memory + at), narrow);
  }
}

TEST(DeviceRules, WordsSayWhichRowOfTheSliceARowIs) {
  const std::uint32_t word = 0x80000005u;
  EXPECT_EQ(slice_row_of(word, 0, 100), 100);
  EXPECT_EQ(slice_row_of(word, 1, 100), kNoSliceRow);
  EXPECT_EQ(slice_row_of(word, 2, 100), 101);
  EXPECT_EQ(slice_row_of(word, 31, 100), 102);
}

IndexBounds bounds_of(const Row& low, const Row& high) {
  IndexBounds box{};
  std::copy(low.begin(), low.end(), box.low);
  std::copy(high.begin(), high.end(), box.high);
  return box;
}

TEST(KeyColumns, AreOneNumberWhereTheBoxAllows) {
  const auto steps = key_columns(bounds_of({-3, 10, 0}, {4, 14, 1}), 3);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].first, 0);
  EXPECT_EQ(steps[0].end, 3);
  EXPECT_EQ(steps[0].weight[2], 1u);
  EXPECT_EQ(steps[0].weight[1], 2u);
  EXPECT_EQ(steps[0].weight[0], 10u);
  EXPECT_EQ(steps[0].bits, 7);  // 8 * 5 * 2 = 80 positions
  EXPECT_EQ(key_columns(bounds_of({}, {}), 0).size(), 1u);
}

TEST(KeyColumns, AreSeveralWhereItDoesNotLastColumnsFirst) {
  const auto steps = key_columns(bounds_of({0, kMin, 0, 0}, {1, kMax, kMax / 2, 1}), 4);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].first, 2);
  EXPECT_EQ(steps[0].end, 4);
  EXPECT_EQ(steps[0].bits, 63);
  EXPECT_EQ(steps[0].weight[2], 2u);
  EXPECT_EQ(steps[1].first, 1);
  EXPECT_EQ(steps[1].bits, 64);
  EXPECT_EQ(steps[2].first, 0);
  EXPECT_EQ(steps[2].end, 1);
  EXPECT_EQ(steps[2].bits, 1);
  int covered = 0;
  for (const KeyColumns& step : key_columns(bounds_of(Row(32, kMin), Row(32, kMax)), 32)) {
    covered += step.end - step.first;
  }
  EXPECT_EQ(covered, 32);
}

TEST(RowMove, ChunksLieWhereTheLoopsSay) {
  RowMove move{};
  move.loops = 3;
  for (int i = 0; i < 3; ++i) {
    move.extent[i] = {4 - i};
    move.to_stride[i] = 1 << (16 - 8 * i), move.from_stride[i] = -move.to_stride[i];
  }
  for (std::int64_t chunk = 0; chunk < 24; ++chunk) {
    const std::int64_t expected = chunk % 2 + (chunk / 2 % 3 << 8) + (chunk / 6 << 16);
    EXPECT_EQ(move.place(chunk).to, expected);
    EXPECT_EQ(move.place(chunk).from, -expected);
  }
}

}  // namespace
}  // namespace backslice::cuda
