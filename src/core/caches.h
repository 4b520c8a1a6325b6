// The size of this machine's cache.
#pragma once

#include <cstdint>

namespace backslice {

// In bytes: the last level, which all cores share. Asked of the system once; 16 MiB where it does not know.
std::int64_t last_level_cache();

}  // namespace backslice
