// How a result is written, decided from its size and what is selected, before any memory is touched.
#pragma once

#include "backslice/selection.h"

namespace backslice {

// Where the selection is a small part of a large tensor, memory that is fresh from the system, and zero already, beats
// warm memory that must be zeroed: only the pages that the selection touches are paid for.
bool prefers_fresh_zeros(const Selection& selection, const Layout& out);

// A destination larger than the caches is written past them.
bool prefers_streaming(std::int64_t bytes);

// Less than this is not worth a second thread.
inline constexpr std::int64_t kParallelBytes = 512 << 10;

// More than this is more than one piece, for one thread as well. A piece takes some hundredths of a second at most:
// what is to be cancelled waits for the end of one.
inline constexpr std::int64_t kLargestPieceBytes = 64 << 20;

// Into how many pieces a destination of at least kParallelBytes is cut for that many threads. Several per thread, and
// none so large that it could not be waited for.
std::int64_t pieces_for(std::int64_t bytes, int threads);

}  // namespace backslice
