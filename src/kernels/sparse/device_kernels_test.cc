// What the kernels for sparse rows do on a CUDA device, thread by thread on the CPU, against the definition.
#include <map>

#include "kernels/cpu/targets.h"
#include "kernels/sparse/device_find.h"
#include "kernels/sparse/device_join.h"
#include "kernels/sparse/device_move.h"
#include "kernels/sparse/device_walk.h"
#include "kernels/sparse/kernel.h"
#include "sparse_reference.h"
#include "sparse_rules.h"

namespace backslice::cuda {
namespace {

using namespace backslice::testing;

// Memory of kernels, which holds anything at first.
class Scratch {
 public:
  explicit Scratch(std::int64_t bytes) : lines_(static_cast<std::size_t>(bytes + 63) / 64) {
    std::memset(static_cast<void*>(lines_.data()), 0xa5, lines_.size() * sizeof(Line));
  }
  std::byte* data() { return reinterpret_cast<std::byte*>(lines_.data()); }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines_;
};

// Finding, as cuda.cc has it done: the threads of each kernel one after the other, as far as the next barrier.
class FoundOnCpu {
 public:
  explicit FoundOnCpu(const Lists& lists) : lists_(lists), scratch_(Found::bytes(lists.input.rows)) {
    found = Found::at(scratch_.data(), lists.input.rows);
  }

  void in_order() {
    find_in_slice_box();
    if (found.header->has_parted != 0 && lists_.input.rows > 0) {
      const auto staged = std::make_unique<Staged>();
      visit_reads(lists_.kind, [&]<class Read>() { walk_rows<Read>(lists_, found, *staged); });
    }
    finish_header(*found.header, lists_.output.rows, lists_.output.rows, nullptr);
  }

  void in_any_order() {
    find_in_slice_box();
    if (found.header->has_parted != 0) {
      joined_.assign(static_cast<std::size_t>(lists_.input.rows), static_cast<std::int32_t>(kNoSliceRow));
      visit_reads(lists_.kind, [&]<class Read>() { join<Read>(); });
      found.joined = joined_.data();
    }
    finish_header(*found.header, lists_.output.rows, lists_.output.rows, nullptr);
  }

  void in_window(const Row& size) {
    IndexBounds box{};
    for (std::size_t axis = 0; axis < size.size(); ++axis) box.high[axis] = size[axis] - 1;
    begin(box);
    visit_pair_reads(lists_, [&]<class Read>() { find_in_box<Read>(); });
    finish_header(*found.header, -1, kMax, nullptr);
  }

  std::vector<std::int64_t> slice_rows(std::int64_t end) const {
    std::vector<std::int64_t> rows;
    for (std::int64_t row = 0; row < lists_.input.rows; ++row) {
      const std::int64_t slice_row = found.slice_row(row);
      rows.push_back(slice_row < end ? slice_row : kNoSliceRow);
    }
    return rows;
  }

  Found found{};
  std::size_t sort_steps = 0;

 private:
  void begin(const IndexBounds& box) {
    *found.header = FoundHeader{};
    found.header->box = box;
  }

  void find_in_slice_box() {
    IndexBounds none;
    for (int axis = 0; axis < kMaxColumns; ++axis) none.low[axis] = kLargest, none.high[axis] = kSmallest;
    begin(none);
    visit_pair_reads(lists_, [&]<class Read>() {
      bound<Read>();
      find_in_box<Read>();
      check<Read>();
    });
  }

  template <class Read>
  void bound() {
    constexpr int kBlocks = 3;
    IndexBounds& box = found.header->box;
    for (unsigned set = 0; set * kBoundColumns < static_cast<unsigned>(lists_.output.rank); ++set) {
      const int first_axis = bound_axis<Read>(lists_.output, set);
      for (int thread = 0; thread < kBlocks * kFindThreads; ++thread) {
        ColumnBounds bounds[kBoundColumns];
        bound_rows<Read>(lists_.output, first_axis, thread, kBlocks * kFindThreads, bounds);
        for (int a = 0; a < kBoundColumns && first_axis + a < lists_.output.rank; ++a) {
          box.low[first_axis + a] = smaller(box.low[first_axis + a], bounds[a].low);
          box.high[first_axis + a] = larger(box.high[first_axis + a], bounds[a].high);
        }
      }
    }
  }

  template <class Read>
  void find_in_box() {
    std::int64_t next = 0;
    for (std::int64_t tile = 0; tile < Found::tiles(lists_.input.rows); ++tile) {
      TileWords shared{};
      for (int thread = 0; thread < kFindThreads; ++thread) {
        const unsigned inside = TileRows<Read>(lists_, found.header->box, tile, static_cast<unsigned>(thread)).inside();
        for (int k = 0; k < kRowsPerThread; ++k) {
          shared.words[word_of(k, thread / 32)] |= (inside >> k & 1) << thread % 32;
        }
      }
      int before = 0;
      for (int lane = 0; lane < 32; ++lane) {
        number_lane(shared, lane, before);
        before += count_lane(shared, lane);
      }
      found.counts[tile] = before;
      found.first[tile] = next;
      next += before;
      std::copy(shared.words, shared.words + kTileWords, found.words + tile * kTileWords);
      std::copy(shared.before, shared.before + kTileWords, found.before + tile * kTileWords);
    }
    found.header->found = next;
  }

  template <class Read>
  void check() {
    for (std::int64_t tile = 0; tile < Found::tiles(lists_.input.rows); ++tile) {
      for (int thread = 0; thread < kFindThreads; ++thread) {
        const auto slice_row = [&](int k) {
          const std::int64_t word = tile * kTileWords + word_of(k, thread / 32);
          const std::int64_t row = slice_row_of(found.words[word], thread % 32, found.first_of(word));
          return row < lists_.output.rows ? row : kNoSliceRow;
        };
        const TileRows<Read> rows(lists_, found.header->box, tile, static_cast<unsigned>(thread));
        if (rows.have_parted(slice_row)) found.header->has_parted = 1;
      }
    }
  }

  // Sorted by the CPU, which stands in for CUB.
  struct Sorted {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint64_t> keys;
    SortedRows in_place() {
      return {static_cast<std::int64_t>(rows.size()), rows.data(), nullptr, keys.data(), nullptr};
    }
  };

  template <class Read>
  void sort(Sorted& sorted, const IndexList& list, const PerColumn* start, const std::vector<KeyColumns>& steps) const {
    const PerColumn from = key_origin(start, found.header->box);
    for (const KeyColumns& step : steps) {
      const auto key = [&](std::uint32_t row) { return key_of<Read>(list, from, step, row); };
      std::stable_sort(sorted.rows.begin(), sorted.rows.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
      sorted.keys.clear();
      for (std::uint32_t row : sorted.rows) {
        sorted.keys.push_back(key(row));
        ASSERT_TRUE(step.bits == 64 || key(row) >> step.bits == 0);
      }
    }
  }

  template <class Read>
  void join() {
    Sorted input, output;
    input.rows.resize(static_cast<std::size_t>(found.header->found));
    for (std::int64_t row = 0; row < lists_.input.rows; ++row) {
      const std::int64_t at = found.slice_row(row);
      if (at != kNoSliceRow) input.rows[static_cast<std::size_t>(at)] = static_cast<std::uint32_t>(row);
    }
    for (std::int64_t row = 0; row < lists_.output.rows; ++row) output.rows.push_back(static_cast<std::uint32_t>(row));
    const std::vector<KeyColumns> steps = key_columns(found.header->box, lists_.input.rank);
    sort_steps = steps.size();
    sort<Read>(input, lists_.input, &lists_.start, steps);
    sort<Read>(output, lists_.output, nullptr, steps);
    const SortedRows in = input.in_place(), out = output.in_place();
    const Order<Read> order{lists_, in, out, steps.size() == 1};
    for (std::int64_t p = 0; p < in.count; ++p) {
      const std::int64_t at = order.partner(p);
      if (at < 0) continue;
      joined_[in.rows[p]] = static_cast<std::int32_t>(out.rows[at]);
      ++found.header->used;
    }
  }

  const Lists& lists_;
  Scratch scratch_;
  std::vector<std::int32_t> joined_;
};

// -- The slice row of each input row, by the definition

using SliceRowsOf = std::vector<std::int64_t>;

SliceRowsOf walked(const Rows& input, const Row& start, const Rows& output) {
  SliceRowsOf rows;
  std::size_t next = 0;
  for (const Row& row : input) {
    const bool match = next < output.size() && matches(row, start, output[next]);
    rows.push_back(match ? static_cast<std::int64_t>(next++) : kNoSliceRow);
  }
  return rows;
}

SliceRowsOf joined(const Rows& input, const Row& start, const Rows& output) {
  std::map<std::vector<__int128>, std::vector<std::int64_t>> left;  // the last first
  for (std::size_t j = output.size(); j-- > 0;) {
    std::vector<__int128> at;
    for (std::size_t axis = 0; axis < start.size(); ++axis) at.push_back(__int128{output[j][axis]} + start[axis]);
    left[at].push_back(static_cast<std::int64_t>(j));
  }
  SliceRowsOf rows;
  for (const Row& row : input) {
    const auto found = left.find({row.begin(), row.end()});
    rows.push_back(kNoSliceRow);
    if (found == left.end() || found->second.empty()) continue;
    rows.back() = found->second.back();
    found->second.pop_back();
  }
  return rows;
}

std::int64_t count(const SliceRowsOf& rows) {
  return static_cast<std::int64_t>(rows.size()) - std::count(rows.begin(), rows.end(), kNoSliceRow);
}

// -- Lists of indices

enum class Storage { Matrix, Columns, Unaligned };

// In memory that is as large as they are, so that reads outside are seen by a sanitizer.
template <class Index>
class Stored {
 public:
  Stored(const Rows& rows, int rank, Storage storage) : list_(rows, rank), storage_(storage) {
    list_.matrix.shrink_to_fit();
    list_.by_column.shrink_to_fit();
    if (storage != Storage::Unaligned) return;
    bytes_.resize(1 + list_.matrix.size() * sizeof(Index));
    if (!list_.matrix.empty()) std::memcpy(bytes_.data() + 1, list_.matrix.data(), bytes_.size() - 1);
  }

  CooIndices indices() const {
    if (storage_ == Storage::Columns && list_.rank > 0) return list_.columns();
    if (storage_ != Storage::Unaligned) return list_.indices();
    ConstView view = view_of(list_.matrix, {list_.count, list_.rank});
    view.data = bytes_.data() + 1;
    return CooIndices::from_matrix(view).value();
  }

 private:
  List<Index> list_;
  Storage storage_;
  std::vector<std::byte> bytes_;
};

using Case = SparseCase;

// A window of the input, whole, with rows left out, or in another order.
Case random_case(std::mt19937& random, std::size_t most_rows, bool shuffles) {
  const int rank = static_cast<int>(random() % 7);
  const int extent = 2 + static_cast<int>(random() % (rank < 3 ? 60 : 4));
  const auto count = static_cast<std::int64_t>(random() % (most_rows + 1));
  Case made = random_input(random, count, rank, extent);
  for (auto& s : made.size) s = extent / 2 + static_cast<int>(random() % static_cast<unsigned>(extent));
  made.output = window(made.input, made.start, made.size);
  const unsigned change = random() % 4;
  if (change == 1) {
    std::erase_if(made.output, [&](const Row&) { return random() % 50 == 0; });
  } else if (change == 2 && shuffles) {
    std::shuffle(made.output.begin(), made.output.end(), random);
  } else if (change == 3 && !made.output.empty() && made.rank > 0) {
    made.output[random() % made.output.size()][0] += 1;
  }
  return made;
}

class SparseDeviceKernels : public ::testing::Test {
 protected:
  // Calls test(input, output) with the lists in memory, of either type and any storage.
  template <class Test>
  void with_lists(const Case& c, const Test& test) {
    const auto storage = static_cast<Storage>(random_() % 3);
    const auto with = [&]<class Index>() {
      const Stored<Index> input(c.input, c.rank, storage), output(c.output, c.rank, storage);
      test(input.indices(), output.indices());
    };
    random_() % 2 == 0 ? with.template operator()<std::int32_t>() : with.template operator()<std::int64_t>();
  }

  std::mt19937 random_{71};
};

TEST_F(SparseDeviceKernels, FindTheRowsThatAWalkFinds) {
  int parted = 0;
  for (int i = 0; i < 300; ++i) {
    const Case c = random_case(random_, i % 10 == 0 ? 20'000 : 600, true);
    with_lists(c, [&](const CooIndices& input, const CooIndices& output) {
      const Lists lists = lists_of(input, c.start, output);
      FoundOnCpu on_cpu(lists);
      on_cpu.in_order();
      const SliceRowsOf truth = walked(c.input, c.start, c.output);
      ASSERT_EQ(on_cpu.slice_rows(output.rows()), truth);
      ASSERT_EQ(on_cpu.found.header->used, count(truth));
      ASSERT_EQ(on_cpu.found.header->is_refused, count(truth) != output.rows());
      parted += on_cpu.found.header->has_parted;
    });
  }
  EXPECT_GT(parted, 50);
}

TEST_F(SparseDeviceKernels, FindTheRowsThatAJoinFinds) {
  int parted = 0;
  for (int i = 0; i < 200; ++i) {
    const Case c = random_case(random_, i % 10 == 0 ? 9000 : 500, true);
    with_lists(c, [&](const CooIndices& input, const CooIndices& output) {
      const Lists lists = lists_of(input, c.start, output);
      FoundOnCpu on_cpu(lists);
      on_cpu.in_any_order();
      const SliceRowsOf truth = joined(c.input, c.start, c.output);
      ASSERT_EQ(on_cpu.slice_rows(output.rows()), truth);
      ASSERT_EQ(on_cpu.found.header->used, count(truth));
      parted += on_cpu.found.header->has_parted;
    });
  }
  EXPECT_GT(parted, 50);
}

// Indices whose differences overflow, and boxes whose positions need several keys.
TEST_F(SparseDeviceKernels, FindRowsAtTheEndsOfTheirRange) {
  constexpr std::int64_t kEnds[] = {kMin, kMin + 1, -1, 0, 1, kMax - 1, kMax};
  const auto any_end = [&] { return kEnds[random_() % std::size(kEnds)]; };
  std::size_t most_steps = 0;
  for (int i = 0; i < 400; ++i) {
    Case c;
    c.rank = 1 + static_cast<int>(random_() % 3);
    c.input.resize(random_() % 60, Row(static_cast<std::size_t>(c.rank)));
    c.output.resize(random_() % 20, Row(static_cast<std::size_t>(c.rank)));
    c.start.resize(static_cast<std::size_t>(c.rank));
    for (Rows* rows : {&c.input, &c.output}) {
      for (Row& row : *rows) std::generate(row.begin(), row.end(), any_end);
    }
    std::generate(c.start.begin(), c.start.end(), any_end);
    if (random_() % 2 == 0) std::fill(c.start.begin(), c.start.end(), random_() % 2);
    const Stored<std::int64_t> input(c.input, c.rank, Storage::Matrix), output(c.output, c.rank, Storage::Matrix);
    const Lists lists = lists_of(input.indices(), c.start, output.indices());
    FoundOnCpu in_order(lists), in_any_order(lists);
    in_order.in_order();
    ASSERT_EQ(in_order.slice_rows(lists.output.rows), walked(c.input, c.start, c.output));
    in_any_order.in_any_order();
    ASSERT_EQ(in_any_order.slice_rows(lists.output.rows), joined(c.input, c.start, c.output));
    most_steps = std::max(most_steps, in_any_order.sort_steps);
  }
  EXPECT_GT(most_steps, 1u);
}

TEST_F(SparseDeviceKernels, WalkManyPartsInTurn) {
  Case c;
  c.rank = 1;
  c.start = {0};
  for (int i = 0; i < 9 * kPartRows + 77; ++i) c.input.push_back({random_() % 3 == 0 ? i % 5 : 2});
  for (const Row& row : c.input) {
    if (random_() % 4 != 0) c.output.push_back(row);
  }
  const Stored<std::int64_t> input(c.input, 1, Storage::Matrix), output(c.output, 1, Storage::Matrix);
  const Lists lists = lists_of(input.indices(), c.start, output.indices());
  FoundOnCpu on_cpu(lists);
  on_cpu.in_order();
  EXPECT_EQ(on_cpu.found.header->has_parted, 1);
  EXPECT_EQ(on_cpu.slice_rows(output.indices().rows()), walked(c.input, c.start, c.output));
}

// -- Moving what was found

// Calls body(block, thread) for all threads of so many blocks.
template <class Body>
void by_blocks(unsigned blocks, const Body& body) {
  for (unsigned block = 0; block < blocks; ++block) {
    for (unsigned thread = 0; thread < kChunkThreads; ++thread) body(block, thread);
  }
}

constexpr MoveWay kMoveWays[] = {MoveWay::Dense, MoveWay::Single, MoveWay::Chunks};

// How often each was taken.
using MovesByWay = std::array<int, std::size(kMoveWays)>;

// By the best kernel that can run, those before `from` left out.
void move_on_cpu(const RowMove& move, const Found& found, const SliceRows& rows, Moves moves, MoveWay from,
                 MovesByWay& taken) {
  const unsigned blocks = blocks_for_chunks(rows.input, move.chunks);
  if (blocks == 0) return;
  const MoveVariant& variant = move_variant(move, found, moves, from);
  ++taken[static_cast<std::size_t>(variant.way)];
  visit_width(variant.width, [&]<int kBytes>() {
    if constexpr (kBytes == 2 || kBytes == 4 || kBytes == 8) {
      if (variant.way == MoveWay::Dense) {
        return by_blocks(blocks_for_dense(rows.input, kBytes), [&](unsigned block, unsigned thread) {
          move_dense<kBytes>(move, found, rows, block, thread);
        });
      }
    }
    by_blocks(blocks, [&](unsigned block, unsigned thread) {
      variant.way == MoveWay::Single ? move_single_chunks<kBytes>(move, found, rows, moves, block, thread)
                                     : move_chunks<kBytes>(move, found, rows, moves, block, thread);
    });
  });
}

void add_on_cpu(const RowMove& move, const Found& found, const SliceRows& rows, const Addition& addition) {
  visit_width(move.width, [&]<int kBytes>() {
    by_blocks(blocks_for_chunks(rows.input, move.chunks),
              [&](unsigned block, unsigned thread) { add_chunks<kBytes>(move, found, rows, addition, block, thread); });
  });
}

void write_indices_on_cpu(const Lists& lists, const Found& found, const SliceRows& rows, const IndexMatrix& to) {
  const bool is_narrow = lists.kind == IndexKind::Int32 || lists.kind == IndexKind::UnalignedInt32;
  visit_reads(lists.kind, [&]<class Read>() {
    by_blocks(blocks_for_chunks(rows.input, lists.input.rank), [&](unsigned block, unsigned thread) {
      is_narrow ? write_slice_indices<Read, std::uint32_t>(lists, found, rows, to, block, thread)
                : write_slice_indices<Read, std::uint64_t>(lists, found, rows, to, block, thread);
    });
  });
}

Dims rows_of(std::int64_t rows, Ints row_shape) {
  Dims dims(std::vector<std::int64_t>{rows});
  for (std::int64_t extent : row_shape) dims.push_back(extent);
  return dims;
}

RandomTensor any_tensor(std::mt19937& random, DType dtype, Ints shape) {
  const unsigned kind = random() % 4;
  return (kind == 0 ? random_tensor : kind == 1 ? contiguous_tensor : aligned_tensor)(random, dtype, shape);
}

constexpr DType kMoved[] = {DType::Int8, DType::BFloat16, DType::Float32, DType::Float64, DType::Complex128};

// As the reference does, with slice rows that were found in any way.
TEST_F(SparseDeviceKernels, MoveAndAddRowsAsWasFound) {
  MovesByWay taken_by{};
  const RowKernels& kernels = *active_target().rows;
  const std::vector<Dims> shapes = {Dims(std::vector<std::int64_t>{}), Dims(std::vector<std::int64_t>{3}),
                                    Dims(std::vector<std::int64_t>{2, 5}), Dims(std::vector<std::int64_t>{0})};
  for (int i = 0; i < 250; ++i) {
    const Case c = random_case(random_, i % 10 == 0 ? 9000 : 300, true);
    const DType dtype = kMoved[static_cast<std::size_t>(i) % std::size(kMoved)];
    with_lists(c, [&](const CooIndices& input, const CooIndices& output) {
      const Lists lists = lists_of(input, c.start, output);
      FoundOnCpu on_cpu(lists);
      i % 3 == 0 ? on_cpu.in_any_order() : on_cpu.in_order();
      // Rows that were found past the end of the slice are not moved.
      const std::int64_t taken = i % 4 == 0 ? output.rows() / 2 : output.rows();
      std::vector<std::int32_t> slice_rows;
      for (std::int64_t row : on_cpu.slice_rows(taken)) slice_rows.push_back(static_cast<std::int32_t>(row));
      const auto matcher = match_as_found(slice_rows.data(), kernels);
      const Range all{0, input.rows()}, of_slice{0, taken};
      const Dims& shape = shapes[random_() % (i % 5 == 0 ? 4 : 3)];
      RandomTensor out = any_tensor(random_, dtype, rows_of(input.rows(), shape));
      RandomTensor grad = any_tensor(random_, dtype, rows_of(taken, shape));
      remove_nans(out.memory);
      remove_nans(grad.memory);
      const SliceRows rows{input.rows(), taken};
      for (const MoveWay from : kMoveWays) {
        const auto moved = [&](Moves moves) {
          return run_on_copy(out, [&](const View& view) {
            move_on_cpu(row_move(view, grad.view), on_cpu.found, rows, moves, from, taken_by);
          });
        };
        ASSERT_EQ(moved(Moves::RowsAndZeros), run_on_copy(out, [&](const View& view) {
                    reference::write_gradient(*matcher, all, of_slice, grad.view, view);
                  }));
        ASSERT_EQ(moved(Moves::RowsOnly), run_on_copy(out, [&](const View& view) {
                    reference::write_taken(*matcher, all, of_slice, grad.view, view);
                  }));
      }
      const Addition addition = addition_of(dtype);
      ASSERT_EQ(run_on_copy(out,
                            [&](const View& view) {
                              add_on_cpu(row_move(view, grad.view, addition.width), on_cpu.found, rows, addition);
                            }),
                run_on_copy(
                    out, [&](const View& view) { reference::add_gradient(*matcher, all, of_slice, grad.view, view); }));
    });
  }
  EXPECT_GT(taken_by[0], 10);
  EXPECT_GT(taken_by[1], 30);
  EXPECT_GT(taken_by[2], 50);
}

TEST_F(SparseDeviceKernels, WriteTheIndicesAndValuesOfAWindow) {
  MovesByWay taken_by{};
  const RowKernels& kernels = *active_target().rows;
  for (int i = 0; i < 200; ++i) {
    const Case c = random_case(random_, i % 10 == 0 ? 9000 : 300, false);
    const DType dtype = kMoved[static_cast<std::size_t>(i) % std::size(kMoved)];
    with_lists(c, [&](const CooIndices& input, const CooIndices&) {
      const Lists lists = lists_of(input, c.start, input);
      FoundOnCpu on_cpu(lists);
      on_cpu.in_window(c.size);
      const std::int64_t found = on_cpu.found.header->used;
      ASSERT_EQ(found, static_cast<std::int64_t>(window(c.input, c.start, c.size).size()));
      const auto matcher = match_window(input, c.start, c.size, kernels);
      const Dims shape(std::vector<std::int64_t>(random_() % 3, 3));
      const RandomTensor values = any_tensor(random_, dtype, rows_of(input.rows(), shape));
      const RandomTensor out_values = any_tensor(random_, dtype, rows_of(found, shape));
      const RandomTensor out_indices = any_tensor(random_, input.dtype(), {found, c.rank});
      const auto written = [&](const auto& write) {
        std::vector<std::byte> indices;
        auto both = run_on_copy(out_values, [&](const View& to_values) {
          indices = run_on_copy(out_indices, [&](const View& to_indices) { write(to_indices, to_values); });
        });
        both.insert(both.end(), indices.begin(), indices.end());
        return both;
      };
      const SliceRows rows{input.rows(), found};
      ASSERT_EQ(written([&](const View& to_indices, const View& to_values) {
                  const auto& strides = to_indices.layout.strides;
                  write_indices_on_cpu(lists, on_cpu.found, rows, {to_indices.data, strides[0], strides[1]});
                  move_on_cpu(row_move(to_values, values.view), on_cpu.found, rows, Moves::ToSlice,
                              kMoveWays[static_cast<std::size_t>(i) % std::size(kMoveWays)], taken_by);
                }),
                written([&](const View& to_indices, const View& to_values) {
                  reference::write_slice(*matcher, {0, input.rows()}, {0, found}, input, c.start, values.view,
                                         to_indices, to_values);
                }));
    });
  }
  EXPECT_GT(taken_by[1], 10);
  EXPECT_GT(taken_by[2], 50);
}

TEST(RowChunks, OfWhichThereAreTooManyRefuseTheLaunch) {
  EXPECT_EQ(blocks_for_chunks(0, 5), 0u);
  EXPECT_EQ(blocks_for_chunks(1, kChunkThreads * kChunksPerThread), 1u);
  EXPECT_EQ(blocks_for_chunks(1, kChunkThreads * kChunksPerThread + 1), 2u);
  EXPECT_EQ(blocks_for_chunks(kMax / 2, 3), 1u << 31);
  EXPECT_EQ(blocks_for_chunks(kMax, 1), 1u << 31);
  for (const std::int64_t a : {std::int64_t{0}, std::int64_t{7}, std::int64_t{1} << 31, std::int64_t{1} << 40}) {
    for (const std::int64_t b : {std::int64_t{1}, std::int64_t{3}, std::int64_t{1} << 33}) {
      EXPECT_EQ(WideDivisor{b}.quotient(a), a / b);
    }
  }
}

}  // namespace
}  // namespace backslice::cuda
