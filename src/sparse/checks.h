// The checks that the sparse operations share.
#pragma once

#include "backslice/coo_indices.h"
#include "backslice/ints.h"
#include "backslice/view.h"

namespace backslice {

// Values have an axis of entries.
Status check_rows(const ConstView& values, const char* argument);

// A list with one item for each of the `rank` things that `of` names.
Status check_length(Ints list, const char* argument, int rank, const char* of);

// A size for each column, none negative.
Status check_size(Ints size, int rank);

// An output shares no memory with a list of indices.
Status check_apart(const View& out, const char* argument, const CooIndices& indices, const char* indices_argument);

// The bytes that one row of indices and values takes, if there are any.
std::int64_t row_bytes(const CooIndices& indices, const ConstView& values);

}  // namespace backslice
