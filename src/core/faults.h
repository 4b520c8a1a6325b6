// Failures on purpose, for the tests.
//
// Whatever asks the system for something it may refuse (memory, threads) asks faults::strikes() first. In ordinary
// builds that is false at compile time. A build with BACKSLICE_FAULT_INJECTION also replaces operator new, and a test
// may then let the n-th request of a call fail, for every n, and see that the call fails in good order.
#pragma once

#include <cstdint>

namespace backslice::faults {

#ifdef BACKSLICE_FAULT_INJECTION
inline constexpr bool kEnabled = true;

// Whether this request is to fail. Counts requests of all threads.
bool strikes() noexcept;

// The n-th request from now on fails, the first being number 0; those after it succeed again.
void strike_at(std::int64_t n) noexcept;

// Ends it. True if the request was reached, and so failed.
bool disarm() noexcept;
#else
inline constexpr bool kEnabled = false;
constexpr bool strikes() noexcept { return false; }
#endif

}  // namespace backslice::faults
