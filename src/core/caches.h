// The sizes of this machine's caches and pages, as the system's files list them. The explorer, which has no files,
// replaces both functions.
#pragma once

#include <cstdint>

namespace backslice {

// In bytes. A result up to this size is written into the caches, where its reader finds it: three quarters of level 3,
// since the operands need room too. At most 32 MiB, because virtual machines report a level that they share with many
// others. On one that reported 300 MiB, stores that bypass the caches took half the time from 64 MiB on.
std::int64_t cache_for_results();

// The size of the huge pages that memory may use; 0 if the system has none.
std::int64_t huge_page_bytes();

}  // namespace backslice
