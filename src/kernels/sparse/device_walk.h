// A walk over both lists by a block of threads, for kernels and for tests on the CPU: each row of the slice finds the
// first row after the one before it.
//
// The input is cut into parts, and each is walked by a block from a guess, which is right if the lists are sorted. Then
// one block goes over the parts and walks those again whose guess was wrong. In the end each was walked from where the
// one before it ended.
#pragma once

#include "kernels/cuda/block.h"
#include "kernels/sparse/device_found.h"

namespace backslice::cuda {

inline constexpr int kWalkThreads = 256;
inline constexpr int kPartRows = kPartTiles * kTileRows, kPartWords = kPartTiles * kTileWords;
inline constexpr int kStagedIndices = 2048, kMostStagedRows = 1024;

// Rows of both lists, in the coordinates of the slice. What is walked is the copy: nobody changes it meanwhile.
struct Staged {
  std::int64_t input[kStagedIndices], output[kStagedIndices];
  bool overflows[kMostStagedRows];  // an input row that is no row of any slice
  std::uint32_t words[kPartWords];
  int input_rows, output_rows;  // staged
  int walked, matched;          // of these
};

BACKSLICE_HD int rows_that_fit(int rank) {
  return rank <= kStagedIndices / kMostStagedRows ? kMostStagedRows : kStagedIndices / rank;
}

BACKSLICE_HD int rows_at_most(std::int64_t rows, int most) { return rows < most ? static_cast<int>(rows) : most; }

// A thread's share of the rows from `row` of the input and `next` of the slice on.
template <class Read>
BACKSLICE_HD void stage(const Lists& lists, std::int64_t row, std::int64_t end, std::int64_t next, Staged& staged,
                        int thread) {
  const int rank = lists.input.rank, room = rows_that_fit(rank);
  const int inputs = rows_at_most(end - row, room), outputs = rows_at_most(lists.output.rows - next, room);
  for (int i = thread; i < inputs; i += kWalkThreads) {
    bool overflows = false;
    for (int axis = 0; axis < rank; ++axis) {
      const std::int64_t index = index_at<Read>(lists.input, row + i, axis);
      overflows |= !slice_coordinate(index, lists.start.of[axis], staged.input[i * rank + axis]);
    }
    staged.overflows[i] = overflows;
  }
  for (int j = thread; j < outputs; j += kWalkThreads) {
    for (int axis = 0; axis < rank; ++axis) {
      staged.output[j * rank + axis] = index_at<Read>(lists.output, next + j, axis);
    }
  }
  if (thread == 0) staged.input_rows = inputs, staged.output_rows = outputs;
}

BACKSLICE_HD bool are_equal(const Staged& staged, int rank, int i, int j, int input_rows, int output_rows) {
  if (i >= input_rows || j >= output_rows || staged.overflows[i]) return false;
  for (int axis = 0; axis < rank; ++axis) {
    if (staged.input[i * rank + axis] != staged.output[j * rank + axis]) return false;
  }
  return true;
}

// By one warp: as far as the staged rows go. `offset` is where the first of them lies in the part, `is_end` whether the
// slice has no rows after the staged ones.
BACKSLICE_HD void walk_staged(Staged& staged, int rank, int offset, bool is_end) {
  const int input_rows = staged.input_rows, output_rows = staged.output_rows;
  const auto equal = [&](int input, int output) {
    return are_equal(staged, rank, input, output, input_rows, output_rows);
  };
  int i = 0, j = 0;
  while (i < input_rows && j < output_rows) {
    const std::uint32_t same = lanes_where([&](int lane) { return equal(i + lane, j); });
    if (same == 0) {
      i += 32;
      continue;
    }
    i += first_bit(same);
    const std::uint32_t run = lanes_where([&](int lane) { return equal(i + lane, j + lane); });
    const int length = ~run == 0 ? 32 : first_bit(~run);  // at least 1
    by_lanes([&](int lane) {
      if (lane < length) set_bit(staged.words, offset + i + lane);
    });
    i += length;
    j += length;
  }
  const bool all = i > input_rows || (j == output_rows && is_end);
  by_lanes([&](int lane) {
    if (lane == 0) staged.walked = all ? input_rows : i, staged.matched = j;
  });
}

// A thread's share of the words of a part that was walked from row `first` of the slice on.
BACKSLICE_HD void write_words(const Found& found, const Staged& staged, std::int64_t part, std::int64_t tiles,
                              std::int64_t first, int thread) {
  const std::int64_t first_tile = part * kPartTiles;
  for (int w = thread; w < kPartWords; w += kWalkThreads) {
    if (first_tile + w / kTileWords >= tiles) break;
    const std::int64_t tile = first_tile + w / kTileWords, word = first_tile * kTileWords + w;
    int in_tile = 0, in_part = 0;  // found before this word
    for (int other = 0; other < w; ++other) {
      in_part += count_bits(staged.words[other]);
      if (other / kTileWords == w / kTileWords) in_tile += count_bits(staged.words[other]);
    }
    found.words[word] = staged.words[w];
    found.before[word] = in_tile;
    if (w % kTileWords == 0) found.first[tile] = first + in_part;
  }
}

// By a block: a part, from row `first` of the slice on. Its words go to memory.
template <class Read>
BACKSLICE_HD void walk_part(const Lists& lists, const Found& found, std::int64_t part, std::int64_t first,
                            Staged& staged) {
  const std::int64_t lo = part * kPartRows, rows = lists.input.rows;
  const std::int64_t hi = lo + kPartRows < rows ? lo + kPartRows : rows;
  by_threads<kWalkThreads>([&](int thread) {
    for (int w = thread; w < kPartWords; w += kWalkThreads) staged.words[w] = 0;
  });
  std::int64_t row = lo, next = first;
  while (row < hi) {
    by_threads<kWalkThreads>([&](int thread) { stage<Read>(lists, row, hi, next, staged, thread); });
    by_first_warp([&] {
      walk_staged(staged, lists.input.rank, static_cast<int>(row - lo), next + staged.output_rows == lists.output.rows);
    });
    row += staged.walked;
    next += staged.matched;
  }
  by_threads<kWalkThreads>([&](int thread) {
    write_words(found, staged, part, Found::tiles(rows), first, thread);
    if (thread == 0) found.parts[part] = {first, next};
  });
}

// By a block, in memory that its threads share.
struct Walk {
  Staged staged;
  std::int64_t guess;
  unsigned long long wrong;
};

// By a block: a part from a guess.
template <class Read>
BACKSLICE_HD void walk_from_guess(const Lists& lists, const Found& found, std::int64_t part, Walk& walk) {
  by_threads<kWalkThreads>([&](int thread) {
    if (thread != 0) return;
    walk.guess = part == 0 ? 0 : guess_next_row<Read>(lists.input, part * kPartRows, lists.start, lists.output);
  });
  walk_part<Read>(lists, found, part, walk.guess, walk.staged);
}

// By a block: the first part from `from` on whose walk did not begin where the one before it ended, or `parts`.
BACKSLICE_HD std::int64_t find_wrong(const WalkedPart* walked, std::int64_t from, std::int64_t parts,
                                     unsigned long long& wrong) {
  for (std::int64_t first = from; first < parts; first += kWalkThreads) {
    by_threads<kWalkThreads>([&](int thread) {
      if (thread == 0) wrong = static_cast<unsigned long long>(parts);
    });
    by_threads<kWalkThreads>([&](int thread) {
      const std::int64_t part = first + thread;
      if (part < parts && walked[part].first != walked[part - 1].end)
        lower_to(wrong, static_cast<unsigned long long>(part));
    });
    const auto least = static_cast<std::int64_t>(wrong);
    by_threads<kWalkThreads>([](int) {});  // all have read it
    if (least < parts) return least;
  }
  return parts;
}

// By one block, when all parts were walked: walks those again whose guess was wrong.
template <class Read>
BACKSLICE_HD void mend_parts(const Lists& lists, const Found& found, std::int64_t parts, Walk& walk) {
  for (std::int64_t part = find_wrong(found.parts, 1, parts, walk.wrong); part < parts;
       part = find_wrong(found.parts, part + 1, parts, walk.wrong)) {
    walk_part<Read>(lists, found, part, found.parts[part - 1].end, walk.staged);
  }
  by_threads<kWalkThreads>([&](int thread) {
    if (thread == 0) found.header->used = found.parts[parts - 1].end;
  });
}

}  // namespace backslice::cuda
