// Matching rows in any order: the n-th row of the slice with an index goes to the n-th input row with that index.
//
// A join by partitions. Each row has a key: its position in the box that holds all of the slice's indices, where that
// fits into 64 bits beside the number of the row, else a hash. Rows of both lists are dealt out by their keys, in
// order, so that each partition's part of the slice makes a hash table that stays in the cache. Input rows outside the
// box are not even dealt out.
#pragma once

#include "backslice/coo_indices.h"
#include "backslice/ints.h"
#include "backslice/tensor.h"
#include "kernels/cpu/kernel_context.h"

namespace backslice {

struct Joined {
  Buffer slice_rows;       // an int32 for each input row: its row in the slice, or kNoRow
  std::int64_t found = 0;  // how many rows of the slice have found theirs

  std::int32_t* rows() const { return reinterpret_cast<std::int32_t*>(slice_rows.data()); }
};

// Precondition: the slice has fewer than 2^31 rows.
Joined join_in_any_order(const CooIndices& input, Ints start, const CooIndices& output, const KernelContext& context);

}  // namespace backslice
