// Replaces core/caches.cc with the answers for an unknown machine: a page has no files to read the sizes from.
#include "core/caches.h"

namespace backslice {

std::int64_t cache_for_results() { return 8 << 20; }
std::int64_t huge_page_bytes() { return 0; }

}  // namespace backslice
