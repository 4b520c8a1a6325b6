// The sizes of this machine's caches.
#pragma once

#include <cstdint>

namespace backslice {

struct Caches {
  std::int64_t l2 = 1 << 20;   // of one core
  std::int64_t l3 = 16 << 20;  // shared
};

// Asked of the system once; the defaults stand where it does not know.
const Caches& caches();

}  // namespace backslice
