/// @file
/// Strategy: how a result is written, decided from its size and what is selected, before any memory is touched.
#pragma once

#include <string_view>

#include "backslice/export.h"

namespace backslice {

/// How a result is written.
enum class Strategy {
  Nothing,     ///< There are no elements.
  FreshZeros,  ///< Memory from the system is zero already: only the pages that dy goes to are written.
  Cached,      ///< One pass of ordinary stores.
  Streaming,   ///< One pass of stores past the caches, for results larger than those.
  OneByOne,    ///< Strings are assigned, not moved.
  Gather,      ///< On CUDA: each thread finds where its part of the result comes from, and writes it once.
};

/// "fresh zeros", "cached", ...
BACKSLICE_EXPORT std::string_view name(Strategy strategy);

}  // namespace backslice
