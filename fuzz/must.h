// must(): a claim of a fuzzer. A false claim ends the process, so that libFuzzer keeps the input.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "backslice/result.h"

namespace backslice::fuzz {

inline void must(bool holds, const std::string& claim, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, claim.c_str());
  std::abort();
}

// Claims that the call succeeds exactly if the model says so, and that an error has a message.
inline bool agree(const Status& status, bool expected_ok, const std::string& what, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  must(status.ok() == expected_ok,
       what + (expected_ok ? " succeeds, but: " + status.to_string() : " is refused, but it succeeded"), file, line);
  must(status.ok() || !status.message().empty(), what + ": an error has a message", file, line);
  return status.ok();
}

// Returns the value of a call that must succeed.
template <class T>
T must_get(Result<T> result, const std::string& what, const char* file = __builtin_FILE(),
           int line = __builtin_LINE()) {
  agree(result.status(), true, what, file, line);
  return *std::move(result);
}

}  // namespace backslice::fuzz
