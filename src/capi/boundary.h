// Where a call from C enters and leaves: nothing is thrown past here, and what failed is remembered for
// backslice_last_error().
//
//     int32_t backslice_selection_all(backslice_ints shape, backslice_selection** out) {
//       return guarded([&] {
//         not_null(out, "out");
//         return give(out, unwrap(Selection::all(shape_of(shape, "shape"))));
//       });
//     }
#pragma once

#include <cstdint>

#include "core/boundary.h"
#include "core/errors.h"

namespace backslice::capi {

using throwing::refuse;
using throwing::unwrap;

// Keeps the error for this thread and returns its code. Needs no memory.
std::int32_t remember(const Status& status) noexcept;

// Runs `body`, which returns a Status or throws.
template <class Body>
std::int32_t guarded(const Body& body) noexcept {
  const Status status = without_throwing([&]() -> Status { return body(); });
  return status.ok() ? 0 : remember(status);
}

}  // namespace backslice::capi
