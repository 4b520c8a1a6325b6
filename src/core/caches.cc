#include "core/caches.h"

#include <unistd.h>

namespace backslice {

const Caches& caches() {
  static const Caches found = [] {
    Caches sizes;
#ifdef _SC_LEVEL3_CACHE_SIZE
    if (const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE); l2 > 0) sizes.l2 = l2;
    if (const long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE); l3 > 0) sizes.l3 = l3;
#endif
    return sizes;
  }();
  return found;
}

}  // namespace backslice
