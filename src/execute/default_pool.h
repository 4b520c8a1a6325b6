// The pool behind default_executor(): plain threads, or oneTBB if the library is configured with
// BACKSLICE_EXECUTOR=tbb. Each has its own source file; a build compiles one of them.
#pragma once

#include <memory>

#include "backslice/executor.h"

namespace backslice {

std::unique_ptr<Executor> make_default_pool(int threads);

// Retires a pool that is no longer the default, or makes it the default again. Current users may continue; its threads
// end when they find no work. (oneTBB's threads belong to no pool.)
void let_threads_end(Executor& pool, bool let);

}  // namespace backslice
