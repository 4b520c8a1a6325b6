// Reads BACKSLICE_NUM_THREADS.
#pragma once

#include "backslice/export.h"
#include "backslice/status.h"

namespace backslice {

// Returns InvalidArgument, with the value, if the variable is set and is not a number of threads. Exported for the
// Python bindings.
BACKSLICE_EXPORT Status check_num_threads_variable();

// Returns the same error while the invalid variable leaves the number of threads undecided: until it is corrected or
// set_num_threads() is called.
Status settle_num_threads();

}  // namespace backslice
