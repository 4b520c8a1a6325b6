// Strategy: how a result is written, decided from its size and what is selected, before any memory is touched.
#pragma once

#include <string_view>

#include "backslice/export.h"

namespace backslice {

enum class Strategy {
  Nothing,     // there are no elements
  FreshZeros,  // memory from the system is zero already: only the pages that dy goes to are written
  Cached,      // one pass of ordinary stores
  Streaming,   // one pass of stores past the caches, for results larger than those
  OneByOne,    // strings are assigned, not moved
};

// "fresh zeros", "cached", ...
BACKSLICE_EXPORT std::string_view name(Strategy strategy);

}  // namespace backslice
