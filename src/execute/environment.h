// BACKSLICE_NUM_THREADS, as it was set by whoever started the process.
#pragma once

#include "backslice/export.h"
#include "backslice/status.h"

namespace backslice {

// InvalidArgument, with the value, where it is set to something that is not a number of threads.
// Exported for the Python bindings.
BACKSLICE_EXPORT Status check_num_threads_variable();

// The same where that left the number of threads undecided: until it is corrected, which decides it, or
// set_num_threads() is called.
Status settle_num_threads();

}  // namespace backslice
