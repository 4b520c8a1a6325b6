// The pool behind default_executor(): plain threads, or oneTBB where the library is configured with
// BACKSLICE_EXECUTOR=tbb. Each has a file of its own, of which a build has one.
#pragma once

#include <memory>

#include "backslice/executor.h"

namespace backslice {

std::unique_ptr<Executor> make_default_pool(int threads);

// For a pool that is no longer the default, or becomes it again. Whoever still uses it may go on; its threads end when
// they find nothing to do. (oneTBB's belong to no pool.)
void let_threads_end(Executor& pool, bool let);

}  // namespace backslice
