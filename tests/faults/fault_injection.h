// Every allocation and every new thread of every operation fails once. The operation must then return an error, or do
// without. It must leave everything unchanged: the same call, repeated, gives the same result as the first call without
// failures.
//
// The test itself is in fault_injection.cc; each domain has a file that lists its operations.
#pragma once

#include <functional>
#include <memory>

#include "core/faults.h"
#include "testing.h"

namespace backslice::testing {

// One call on a state of its own. After success, `check` checks the state that the call has left.
struct Attempt {
  std::function<Status()> call;
  std::function<void()> check = [] {};
};

struct Operation {
  std::string name;
  std::function<Attempt()> prepare;
};

inline void PrintTo(const Operation& operation, std::ostream* stream) { *stream << operation.name; }

class FaultInjection : public ::testing::TestWithParam<Operation> {};

inline std::string name_of_operation(const ::testing::TestParamInfo<Operation>& info) { return info.param.name; }

// Without a copy of the message, which could fail.
template <class T>
Status status_of(Result<T>&& result) {
  return std::move(result).status();
}

// The arguments of a call are made before it, so that no failure hits the test itself.
inline Selection selection_of(Ints shape, const char* index) { return *Selection::from_index(shape, index); }

}  // namespace backslice::testing
