// What the kernels of a sparse operation leave for each other on the device, and the kernels, launched.
//
// Finding and moving are apart, as on the CPU. Finding reads the indices and leaves a bit per input row; moving reads
// the bits. So nothing is moved before everything is found and checked, and indices that change meanwhile
// change nothing any more.
#pragma once

#include <cuda_runtime_api.h>

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

// Where a walk over a part of the input began and ended in the slice.
struct WalkedPart {
  std::int64_t first, end;
};
inline constexpr int kPartTiles = 2;

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
  WalkedPart* parts;     // per kPartTiles tiles
  std::int32_t* joined;  // per row, its row in the slice or kNoSliceRow; null: the words say it

  // The slice row of the first row found in a word.
  BACKSLICE_HD std::int64_t first_of(std::int64_t word) const { return first[word / kTileWords] + before[word]; }

  static BACKSLICE_HD std::int64_t tiles(std::int64_t rows) { return (rows + kTileRows - 1) / kTileRows; }
  static BACKSLICE_HD std::int64_t parts_of(std::int64_t rows) { return (tiles(rows) + kPartTiles - 1) / kPartTiles; }
  // How many bytes they need, and they, in memory of that size that is aligned to 64 bytes.
  static std::int64_t bytes(std::int64_t rows);
  static Found at(std::byte* memory, std::int64_t rows);
};

// Begins: nothing found, and a box that is given, or empty.
cudaError_t begin_finding(const Found& found, const IndexBounds* box, cudaStream_t stream);

// The box becomes that of the slice's rows.
cudaError_t bound(const Found& found, const Lists& lists, cudaStream_t stream);

// Finds the input rows in the box. With `check`, has_parted says whether they are the slice's, one by one.
cudaError_t find_in_box(const Found& found, const Lists& lists, bool check, cudaStream_t stream);

// Where they have parted: walks both lists, so that each row of the slice finds the first row after the one before it.
cudaError_t walk_if_parted(const Found& found, const Lists& lists, cudaStream_t stream);

// Says how many rows of the slice were found, and refuses all unless they are `expected`, which may be negative: any
// number. `status`, unless it is null, gets the numbers.
cudaError_t finish_finding(const Found& found, std::int64_t expected, std::int64_t slice_rows, DeviceStatus* status,
                           cudaStream_t stream);

}  // namespace backslice::cuda
