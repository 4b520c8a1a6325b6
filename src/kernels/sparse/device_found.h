// What the kernels of a sparse operation leave for each other, as plain structs for kernels and for tests on the CPU.
//
// Finding and moving are apart, as on the CPU. Finding reads the indices and leaves a bit per input row; moving reads
// the bits. So nothing is moved before everything is found and checked, and indices that change meanwhile
// change nothing any more.
#pragma once

#include "backslice/device_status.h"
#include "kernels/sparse/device_rules.h"

namespace backslice::cuda {

// How an index is read.
enum class IndexKind { Int32, Int64, UnalignedInt32, UnalignedInt64 };

// Input, slice and what lies between them.
struct Lists {
  IndexList input, output;
  PerColumn start;
  IndexKind kind;
};

// Calls visitor with how indices are read as a type.
template <class Visitor>
auto visit_reads(IndexKind kind, const Visitor& visitor) {
  switch (kind) {
    case IndexKind::Int32: return visitor.template operator()<AlignedIndex<std::int32_t>>();
    case IndexKind::Int64: return visitor.template operator()<AlignedIndex<std::int64_t>>();
    case IndexKind::UnalignedInt32: return visitor.template operator()<UnalignedIndex<std::int32_t>>();
    default: return visitor.template operator()<UnalignedIndex<std::int64_t>>();
  }
}

// The same where both columns of lists that have two are wanted at once.
template <class Visitor>
auto visit_pair_reads(const Lists& lists, const Visitor& visitor) {
  const bool is_paired = lists.input.is_paired && lists.output.is_paired;
  if (is_paired && lists.kind == IndexKind::Int32) return visitor.template operator()<PairedIndex<std::int32_t>>();
  if (is_paired && lists.kind == IndexKind::Int64) return visitor.template operator()<PairedIndex<std::int64_t>>();
  return visit_reads(lists.kind, visitor);
}

struct FoundHeader {
  IndexBounds box;
  std::int64_t found;     // input rows found, those past the end of the slice too
  std::int64_t used;      // rows of the slice that were found
  std::int64_t expected;  // and had to be
  int has_parted;         // the rows in the box are not the slice's, one by one
  int is_refused;         // nothing is moved
};

// Pointers to device memory.
struct Found {
  FoundHeader* header;
  std::int32_t* counts;  // per tile, how many rows were found in it
  std::int64_t* first;   // per tile, the slice row of the first row found in it
  std::uint32_t* words;  // per 32 rows, those that were found
  std::int32_t* before;  // per word, how many were found in its tile before it
  std::int32_t* joined;  // per row, its row in the slice or kNoSliceRow; null: the words say it

  // The slice row of the first row found in a word.
  BACKSLICE_HD std::int64_t first_of(std::int64_t word) const { return first[word / kTileWords] + before[word]; }

  // The slice row of a row, or kNoSliceRow; it may lie past the end of the slice.
  BACKSLICE_HD std::int64_t slice_row(std::int64_t row) const {
    if (joined != nullptr) return joined[row];
    const std::int64_t word = row / kWordRows32;
    return slice_row_of(words[word], static_cast<int>(row % kWordRows32), first_of(word));
  }

  static BACKSLICE_HD std::int64_t tiles(std::int64_t rows) { return (rows + kTileRows - 1) / kTileRows; }

  // How many bytes they need, and they, in memory of that size that is aligned to 64 bytes.
  static std::int64_t bytes(std::int64_t rows) {
    std::int64_t all = 0;
    lay_out(rows, [&](std::int64_t bytes) {
      all += bytes;
      return nullptr;
    });
    return all;
  }
  static Found at(std::byte* memory, std::int64_t rows) {
    return lay_out(rows, [&](std::int64_t bytes) {
      std::byte* taken = memory;
      memory += bytes;
      return taken;
    });
  }

 private:
  template <class Take>
  static Found lay_out(std::int64_t rows, const Take& take) {
    const std::int64_t tiles = Found::tiles(rows);
    const auto array = [&]<class T>(T*& pointer, std::int64_t items) {
      const std::int64_t bytes = items * static_cast<std::int64_t>(sizeof(T));
      pointer = reinterpret_cast<T*>(static_cast<std::byte*>(take((bytes + 63) / 64 * 64)));
    };
    Found found{};
    array(found.header, 1);
    array(found.counts, tiles);
    array(found.first, tiles);
    array(found.words, tiles * kTileWords);
    array(found.before, tiles * kTileWords);
    return found;
  }
};

// The end of finding: how many rows of the slice were found, and whether these are refused. Where the lists have
// parted, the walk has told how many were used. `expected`: how many there had to be; negative for any number.
BACKSLICE_HD void finish_header(FoundHeader& header, std::int64_t expected, std::int64_t slice_rows,
                                DeviceStatus* status) {
  if (header.has_parted == 0) header.used = header.found < slice_rows ? header.found : slice_rows;
  header.expected = expected < 0 ? header.used : expected;
  header.is_refused = header.used != header.expected;
  if (status == nullptr) return;
  status->refused = header.is_refused;
  status->found = header.used;
  status->expected = header.expected;
}

}  // namespace backslice::cuda
