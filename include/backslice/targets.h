/// @file
/// Which SIMD instructions are used.
#pragma once

#include <string>
#include <vector>

#include "backslice/export.h"

namespace backslice {

/// The targets this machine can run, best first: "AVX3", "AVX2", ...; "SVE2", "NEON", ... on ARM; always with "SCALAR".
BACKSLICE_EXPORT std::vector<std::string> simd_targets();

/// The one in use: the best, or the one that the environment variable BACKSLICE_FORCE_TARGET names.
BACKSLICE_EXPORT std::string simd_target();

}  // namespace backslice
