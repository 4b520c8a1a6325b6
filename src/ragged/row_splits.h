// Row splits, checked in memory of their own.
//
// Splits say where memory is read and written, and the caller's arrays may change while a call runs. So each list is
// copied a block at a time, and the block that is checked is the copy: what was checked is what is used.
#pragma once

#include <optional>
#include <vector>

#include "ops/call.h"

namespace backslice {

struct RowSplits {
  std::vector<Tensor> lists;  // from the outermost to the innermost, or none where they were not kept
  std::int64_t rows = 0;      // of the outermost list
  std::int64_t values = 0;    // what the innermost list ends at
};

enum class Keep { Yes, No };

// Checks lists of int32 or int64 that nest: each begins with 0, never decreases, and ends at the number of rows of the
// next; the innermost ends at `values`, or anywhere where that is not given. With Keep::No nothing is allocated.
// Precondition: there is a list.
Result<RowSplits> check_row_splits(const std::vector<Tensor>& given, std::optional<std::int64_t> values, Keep keep,
                                   const Call& call);

// The same of lists that hold lengths of rows instead.
Result<RowSplits> add_up_row_lengths(const std::vector<Tensor>& given, std::int64_t values, const Call& call);

}  // namespace backslice
