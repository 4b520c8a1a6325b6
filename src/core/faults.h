// Injected failures, for the tests.
//
// Code that requests memory or threads from the system calls faults::strikes() first, which is false at compile time in
// users' builds. In a build with BACKSLICE_FAULT_INJECTION, a test lets the n-th request of a call fail, for every n,
// and checks that the call fails cleanly. Test programs link tests/faults/operator_new.cc, so that operator new fails
// too.
#pragma once

#include <cstdint>

namespace backslice::faults {

#ifdef BACKSLICE_FAULT_INJECTION
inline constexpr bool kEnabled = true;

// Returns whether this request fails. Counts the requests of all threads.
bool strikes() noexcept;

// Lets the n-th request from now on fail; the first is number 0. Later requests succeed again.
void strike_at(std::int64_t n) noexcept;

// Disarms. Returns whether the request was reached, and so failed.
bool disarm() noexcept;
#else
inline constexpr bool kEnabled = false;
constexpr bool strikes() noexcept { return false; }
#endif

}  // namespace backslice::faults
