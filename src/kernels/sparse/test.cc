// Rows moved as a matcher says, in every way the kernel can run, against the reference.
#include <deque>
#include <map>

#include "kernel_contexts.h"
#include "kernels/sparse/kernel.h"
#include "kernels/sparse/matcher.h"
#include "plan/cut.h"
#include "sparse_reference.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

Dims rows_of(std::int64_t rows, Ints row_shape) {
  Dims dims(std::vector<std::int64_t>{rows});
  for (std::int64_t extent : row_shape) dims.push_back(extent);
  return dims;
}

class SparseKernel : public ::testing::TestWithParam<KernelWay> {
 protected:
  // Runs body(rows, their rows of the slice) on parts of the rows, on threads, as operations do.
  template <class Body>
  static void in_parts(const Matcher& matcher, std::int64_t rows, const Body& body) {
    const KernelContext& context = GetParam().context;
    const std::int64_t parts = context.pieces + 1;
    std::vector<Range> of_input, of_slice;
    for (std::int64_t i = 0, next = 0; i < parts; ++i) {
      of_input.push_back({cut_at(rows, parts, i), cut_at(rows, parts, i + 1)});
      const std::int64_t first = std::exchange(next, matcher.count(of_input.back(), next));
      of_slice.push_back({first, next});
    }
    context.tasks.run(parts, [&](std::int64_t i) {
      body(of_input[static_cast<std::size_t>(i)], of_slice[static_cast<std::size_t>(i)]);
    });
  }

  // The rows that fall into a window, and the gradient's rows for them.
  void expect_same(std::mt19937& random, std::int64_t rows, Ints row_shape, DType dtype) {
    std::vector<std::int64_t> index(static_cast<std::size_t>(rows));
    for (auto& i : index) i = static_cast<std::int64_t>(random() % 10);
    const auto indices = CooIndices::from_matrix(view_of(index, {rows, 1})).value();
    const KernelContext& context = GetParam().context;
    const auto matcher = match_window(indices, {2}, {static_cast<std::int64_t>(random() % 9)}, context.rows);
    const std::int64_t found = matcher->count({0, rows}, 0);
    const auto make = random() % 2 == 0 ? contiguous_tensor : random_tensor;
    RandomTensor out = make(random, dtype, rows_of(rows, row_shape));
    RandomTensor grad = make(random, dtype, rows_of(found, row_shape));
    remove_nans(out.memory);
    remove_nans(grad.memory);

    const auto fast = [&](const auto& kernel) {
      return run_on_copy(out, [&](const View& view) {
        in_parts(*matcher, rows, [&](Range of_input, Range of_slice) { kernel(of_input, of_slice, view); });
      });
    };
    const auto plain = [&](const auto& kernel) {
      return run_on_copy(out, [&](const View& view) { kernel(*matcher, {0, rows}, {0, found}, grad.view, view); });
    };
    EXPECT_EQ(fast([&](Range of_input, Range of_slice, const View& view) {
                EXPECT_EQ(write_gradient(*matcher, of_input, of_slice, grad.view, view, context), of_slice.hi);
              }),
              plain(reference::write_gradient));
    EXPECT_EQ(fast([&](Range of_input, Range of_slice, const View& view) {
                write_taken(*matcher, of_input, of_slice, grad.view, view);
              }),
              plain(reference::write_taken));
    EXPECT_EQ(fast([&](Range of_input, Range of_slice, const View& view) {
                add_gradient(*matcher, of_input, of_slice, grad.view, view, context);
              }),
              plain(reference::add_gradient));
  }
};

TEST_P(SparseKernel, MovesAndAddsRows) {
  std::mt19937 random(41);
  for (DType dtype : {DType::Float32, DType::Int8, DType::Complex128, DType::BFloat16, DType::Float16}) {
    for (std::int64_t rows : {0, 1, 70, 2500}) {
      expect_same(random, rows, {}, dtype);
      expect_same(random, rows, {3}, dtype);
    }
    expect_same(random, 12, {40, 60}, dtype);  // rows longer than a block
    expect_same(random, 5, {2, 0}, dtype);
  }
}

// Lists of indices in every layout that matchers tell apart, sorted, some rows there twice.
struct RandomIndices {
  RandomIndices(std::mt19937& random, std::int64_t rows, int rank, std::int64_t extent) : rank(rank) {
    for (std::int64_t i = 0; i < rows; ++i) {
      std::vector<std::int64_t> row;
      for (int axis = 0; axis < rank; ++axis) row.push_back(static_cast<std::int64_t>(random()) % extent);
      list.push_back(row);
    }
    std::sort(list.begin(), list.end());
  }

  template <class Index>
  CooIndices as(std::vector<Index>& memory, bool columns) const {
    const auto rows = static_cast<std::int64_t>(list.size());
    memory.resize(static_cast<std::size_t>(rows * rank) + 1);
    std::vector<ConstView> views;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (int axis = 0; axis < rank; ++axis) {
        const std::int64_t at = columns ? axis * rows + i : i * rank + axis;
        memory[static_cast<std::size_t>(at)] =
            static_cast<Index>(list[static_cast<std::size_t>(i)][static_cast<std::size_t>(axis)]);
      }
    }
    constexpr DType kDType = sizeof(Index) == 4 ? DType::Int32 : DType::Int64;
    if (!columns) return CooIndices::from_matrix(*ConstView::contiguous(memory.data(), kDType, {rows, rank})).value();
    for (int axis = 0; axis < rank; ++axis) {
      views.push_back(*ConstView::contiguous(memory.data() + axis * rows, kDType, {rows}));
    }
    return CooIndices::from_columns(views).value();
  }

  int rank;
  std::vector<std::vector<std::int64_t>> list;
};

// The memory of both outputs after kernel(indices, values) has run on copies of them.
template <class Kernel>
std::pair<std::vector<std::byte>, std::vector<std::byte>> run_on_copies(const RandomTensor& indices,
                                                                        const RandomTensor& values,
                                                                        const Kernel& kernel) {
  std::vector<std::byte> written;
  auto memory = run_on_copy(indices, [&](const View& out_indices) {
    written = run_on_copy(values, [&](const View& out_values) { kernel(out_indices, out_values); });
  });
  return {std::move(memory), std::move(written)};
}

class SparseSliceKernel : public SparseKernel {
 protected:
  template <class Index>
  void expect_same_slice(std::mt19937& random, std::int64_t rows, int rank, Ints row_shape, DType dtype) {
    std::vector<Index> memory;
    const CooIndices indices = RandomIndices(random, rows, rank, 6).as(memory, random() % 2 == 0);
    std::vector<std::int64_t> start, size;
    for (int axis = 0; axis < rank; ++axis) {
      start.push_back(static_cast<std::int64_t>(random() % 4) - 1);
      size.push_back(static_cast<std::int64_t>(random() % 7));
    }
    const auto matcher = match_window(indices, start, size, GetParam().context.rows);
    const std::int64_t found = matcher->count({0, rows}, 0);
    const auto make = random() % 2 == 0 ? contiguous_tensor : random_tensor;
    const RandomTensor values = make(random, dtype, rows_of(rows, row_shape));
    const auto outputs = [&](std::int64_t count, const auto& kernel) {
      std::mt19937 same(7);  // whatever runs, on the same memory
      const RandomTensor out_indices = make(same, indices.dtype(), rows_of(count, std::vector<std::int64_t>{rank}));
      return run_on_copies(out_indices, make(same, dtype, rows_of(count, row_shape)), kernel);
    };
    EXPECT_EQ(
        outputs(found,
                [&](const View& out_indices, const View& out_values) {
                  in_parts(*matcher, rows, [&](Range of_input, Range of_slice) {
                    write_slice(*matcher, of_input, of_slice, indices, start, values.view, out_indices, out_values);
                  });
                }),
        outputs(found, [&](const View& out_indices, const View& out_values) {
          reference::write_slice(*matcher, {0, rows}, {0, found}, indices, start, values.view, out_indices, out_values);
        }));
    // Fewer rows are found than were counted, or more.
    for (const std::int64_t counted : {found + 3, found / 2}) {
      if (rows == 0) continue;
      const auto run = [&](const auto& kernel) {
        return outputs(counted, [&](const View& out_indices, const View& out_values) {
          kernel(*matcher, {0, rows}, {0, counted}, indices, start, values.view, out_indices, out_values);
        });
      };
      EXPECT_EQ(run(write_slice), run(reference::write_slice));
    }
  }
};

TEST_P(SparseSliceKernel, MovesRowsAndShiftsTheirIndices) {
  std::mt19937 random(44);
  for (DType dtype : {DType::Float32, DType::Int8, DType::Complex128}) {
    for (std::int64_t rows : {0, 1, 70, 2500}) {
      for (int rank : {1, 2, 3}) {
        expect_same_slice<std::int64_t>(random, rows, rank, {}, dtype);
        expect_same_slice<std::int32_t>(random, rows, rank, {3}, dtype);
      }
    }
    expect_same_slice<std::int64_t>(random, 12, 2, {40, 60}, dtype);
    expect_same_slice<std::int32_t>(random, 5, 2, {2, 0}, dtype);
  }
}

// Which rows of the input a matcher finds.
std::vector<bool> found_by(const Matcher& matcher, std::int64_t rows, std::int64_t& next) {
  std::vector<bool> found(static_cast<std::size_t>(rows), false);
  MatchCursor cursor{0};
  FoundRows block;
  for (std::int64_t lo = 0; lo < rows; lo += kBlockRows) {
    const std::int64_t first = cursor.next;
    matcher.match({lo, std::min(lo + kBlockRows, rows)}, cursor, block);
    std::int64_t count = 0;
    block.for_each([&](std::int64_t row, std::int64_t i) {
      EXPECT_EQ(i, count++);
      EXPECT_EQ(block.slice_row(row, i), first + i);
      found[static_cast<std::size_t>(lo + row)] = true;
    });
    EXPECT_EQ(block.count(), count);
    EXPECT_EQ(cursor.next, first + count);
  }
  next = cursor.next;
  return found;
}

std::vector<bool> found_row_by_row(const RandomIndices& input, Ints start, const RandomIndices& output) {
  std::vector<bool> found;
  std::size_t next = 0;
  for (const auto& row : input.list) {
    bool equal = next < output.list.size();
    for (std::size_t axis = 0; equal && axis < row.size(); ++axis) {
      equal = output.list[next][axis] + start[axis] == row[axis];
    }
    found.push_back(equal);
    next += equal;
  }
  return found;
}

template <class Index>
void expect_matches(std::mt19937& random, int rank, const RowKernels& kernels) {
  const auto rows = static_cast<std::int64_t>(random() % 5000);
  const std::int64_t extent = random() % 2 == 0 ? 5 : 200;
  const RandomIndices input(random, rows, rank, extent);
  std::vector<std::int64_t> start, size;
  for (int axis = 0; axis < rank; ++axis) {
    start.push_back(random() % 3 == 0 ? static_cast<std::int64_t>(random() % 40) - 20 : 0);
    size.push_back(random() % 2 == 0 ? 1000 : static_cast<std::int64_t>(random()) % extent);
  }
  const bool columns = random() % 2 == 0;
  std::vector<Index> input_memory, output_memory;
  const CooIndices input_list = input.as(input_memory, columns);
  RandomIndices output(random, 0, rank, extent);
  std::vector<bool> inside;
  for (const auto& row : input.list) {
    bool in_window = true;
    std::vector<std::int64_t> moved;
    for (std::size_t axis = 0; axis < row.size(); ++axis) {
      in_window &= row[axis] >= start[axis] && row[axis] < start[axis] + size[axis];
      moved.push_back(row[axis] - start[axis]);
    }
    inside.push_back(in_window);
    if (in_window) output.list.push_back(moved);
  }
  std::int64_t next;
  EXPECT_EQ(found_by(*match_window(input_list, start, size, kernels), rows, next), inside);
  EXPECT_EQ(next, static_cast<std::int64_t>(output.list.size()));

  // Not always all rows of a window, so that also what is no slice of one is found.
  const auto left_out = random() % 3 == 0 ? 1 + random() % 100 : 1'000'000;
  std::erase_if(output.list, [&](const auto&) { return random() % left_out == 1; });
  if (random() % 5 == 0) std::reverse(output.list.begin(), output.list.end());
  const CooIndices output_list = output.as(output_memory, columns);
  EXPECT_EQ(found_by(*match_in_order(input_list, start, output_list, kernels), rows, next),
            found_row_by_row(input, start, output));
}

TEST_P(SparseKernel, MatchesRowsOfEveryRankAndLayout) {
  std::mt19937 random(43);
  for (int i = 0; i < 12; ++i) {
    for (int rank : {1, 2, 3, 4, 5}) {
      expect_matches<std::int64_t>(random, rank, GetParam().context.rows);
      expect_matches<std::int32_t>(random, rank, GetParam().context.rows);
    }
  }
}

// What the slice holds is a window's rows for a while, then another's: wider, narrower or elsewhere.
template <class Index>
void expect_matches_of_windows(std::mt19937& random, std::int64_t rows, int rank, const RowKernels& kernels) {
  constexpr std::int64_t kExtent = 40;
  const RandomIndices input(random, rows, rank, kExtent);
  const std::vector<std::int64_t> start(static_cast<std::size_t>(rank), 3);
  RandomIndices output(random, 0, rank, kExtent);
  std::int64_t low = 0, high = kExtent;
  for (std::size_t i = 0; i < input.list.size(); ++i) {
    if (i % (random() % 2 == 0 ? 70 : 1500) == 0) {
      low = static_cast<std::int64_t>(random() % kExtent);
      high = low + static_cast<std::int64_t>(random() % kExtent);
    }
    std::vector<std::int64_t> moved = input.list[i];
    if (moved.back() < low || moved.back() > high) continue;
    for (auto& index : moved) index -= 3;
    output.list.push_back(moved);
  }
  const bool columns = random() % 2 == 0;
  std::vector<Index> input_memory, output_memory;
  const CooIndices input_list = input.as(input_memory, columns), output_list = output.as(output_memory, columns);
  std::int64_t next;
  EXPECT_EQ(found_by(*match_in_order(input_list, start, output_list, kernels), rows, next),
            found_row_by_row(input, start, output));
}

TEST_P(SparseKernel, MatchesRowsOfWindowsThatMove) {
  std::mt19937 random(46);
  for (int i = 0; i < 6; ++i) {
    for (int rank : {1, 2, 3, 4}) {
      expect_matches_of_windows<std::int64_t>(random, 6000, rank, GetParam().context.rows);
      expect_matches_of_windows<std::int32_t>(random, 6000, rank, GetParam().context.rows);
    }
  }
}

// Too many rows for the caches: those in long runs are found in another way.
TEST(SparseMatcher, MatchesRowsOfLargeLists) {
  std::mt19937 random(47);
  expect_matches_of_windows<std::int64_t>(random, 200'000, 4, *active_target().rows);
}

// Sums that do not fit the type of the indices match nothing, also where they would after wrapping.
TEST_P(SparseKernel, MatchesNothingPastTheIndices) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto count_of = [&]<class Index>(Index input_index, std::int64_t start, Index output_index) {
    // Every other row, so that vectors look at them.
    std::vector<Index> input(4096, Index{3}), output(2048, output_index);
    for (std::size_t i = 0; i < input.size(); i += 2) input[i] = input_index;
    constexpr DType kDType = sizeof(Index) == 4 ? DType::Int32 : DType::Int64;
    const auto list = [](const std::vector<Index>& from) {
      const auto rows = static_cast<std::int64_t>(from.size());
      return CooIndices::from_matrix(*ConstView::contiguous(from.data(), kDType, {rows, 1})).value();
    };
    return match_in_order(list(input), {start}, list(output), GetParam().context.rows)->count({0, 4096}, 0);
  };
  EXPECT_EQ(count_of(std::int64_t{9}, 4, std::int64_t{5}), 2048);
  EXPECT_EQ(count_of(std::int64_t{-kMost - 1}, kMost, std::int64_t{1}), 0);
  EXPECT_EQ(count_of(std::int32_t{9}, 4, std::int32_t{5}), 2048);
  EXPECT_EQ(count_of(std::int32_t{5}, std::int64_t{1} << 32, std::int32_t{5}), 0);
  EXPECT_EQ(count_of(std::numeric_limits<std::int32_t>::min(), std::int64_t{1} << 31,
                     std::numeric_limits<std::int32_t>::min()),
            0);
}

TEST_P(SparseKernel, JoinsInAnyOrder) {
  std::mt19937 random(42);
  for (std::int64_t rows : {0, 1, 500, 40'000}) {
    std::vector<std::int64_t> input(static_cast<std::size_t>(rows)), output;
    for (auto& i : input) i = static_cast<std::int64_t>(random() % 1000);
    std::vector<std::int32_t> expected(input.size(), -1);
    for (std::size_t i = 0; i < input.size(); ++i) {
      if (i % 3 != 0) continue;
      output.push_back(input[i] - 5);
    }
    std::shuffle(output.begin(), output.end(), random);
    std::map<std::int64_t, std::deque<std::int32_t>> waiting;
    for (std::size_t j = 0; j < output.size(); ++j) waiting[output[j] + 5].push_back(static_cast<std::int32_t>(j));
    for (std::size_t i = 0; i < input.size(); ++i) {
      auto& queue = waiting[input[i]];
      if (queue.empty()) continue;
      expected[i] = queue.front();
      queue.pop_front();
    }
    const auto count = static_cast<std::int64_t>(output.size());
    const Joined joined =
        join_in_any_order(CooIndices::from_matrix(view_of(input, {rows, 1})).value(), {5},
                          CooIndices::from_matrix(view_of(output, {count, 1})).value(), GetParam().context);
    EXPECT_EQ(joined.found, count);
    EXPECT_EQ(std::vector<std::int32_t>(joined.rows(), joined.rows() + rows), expected);
  }
}

// Runs tasks one by one and remembers how many there were at most.
class CountingExecutor final : public Executor {
 public:
  int concurrency() const override { return 2; }
  void run(std::int64_t count, const std::function<void(std::int64_t)>& task) override {
    most = std::max(most, count);
    for (std::int64_t i = 0; i < count; ++i) task(i);
  }
  std::int64_t most = 0;
};

TEST(SparseJoin, IsCutAsAllWorkIs) {
  constexpr std::int64_t kRows = 300'000;  // more partitions than pieces
  const auto index = counting<std::int64_t>(kRows);
  const auto indices = CooIndices::from_matrix(view_of(index, {kRows, 1})).value();
  CountingExecutor executor;
  const KernelContext context{*active_target().rows, Stores::Ordinary, 1, executor, pool_allocator()};
  EXPECT_EQ(join_in_any_order(indices, {0}, indices, context).found, kRows);
  EXPECT_EQ(executor.most, pieces_for(kRows * 32, 2));
}

INSTANTIATE_TEST_SUITE_P(Ways, SparseSliceKernel, ::testing::ValuesIn(kernel_ways()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Ways, SparseKernel, ::testing::ValuesIn(kernel_ways()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace backslice
