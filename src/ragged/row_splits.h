// Row splits, checked in memory of their own.
//
// Splits say where memory is read and written, and the caller's arrays may change during a call. So each list is copied
// block by block, and the copies are checked and used.
#pragma once

#include <optional>
#include <vector>

#include "ops/call.h"

namespace backslice {

struct RowSplits {
  std::vector<Tensor> lists;  // from the outermost to the innermost; empty if they were not kept
  std::int64_t rows = 0;      // of the outermost list
  std::int64_t values = 0;    // the last item of the innermost list
};

enum class Keep { Yes, No };

// Checks nested lists of int32 or int64. Each begins with 0, never decreases, and ends at the number of rows of the
// next. The innermost ends at `values`, or anywhere if that is not given. Allocates nothing with Keep::No.
// Precondition: there is a list. `argument` names the lists in messages.
Result<RowSplits> check_row_splits(const std::vector<Tensor>& given, const char* argument,
                                   std::optional<std::int64_t> values, Keep keep, const Call& call);

// The same for lists of row lengths.
Result<RowSplits> add_up_row_lengths(const std::vector<Tensor>& given, const char* argument, std::int64_t values,
                                     const Call& call);

}  // namespace backslice
