// From Status to Python exceptions (backslice/errors.py).
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "backslice/result.h"

namespace backslice::python {

namespace nb = nanobind;

// Each raises the exception of that name.
[[noreturn]] void raise_invalid_argument(const std::string& message);
[[noreturn]] void raise_dtype_error(const std::string& message);
[[noreturn]] void raise_out_of_range(const std::string& message);
[[noreturn]] void raise_unimplemented(const std::string& message);
[[noreturn]] void raise(const Status& status);

inline void check(const Status& status) {
  if (!status.ok()) raise(status);
}

template <class T>
T unwrap(Result<T> result) {
  if (!result.ok()) raise(result.status());
  return *std::move(result);
}

// What a Python exception says, without its traceback.
std::string message_of(const nb::python_error& error);

// repr(object), for messages.
std::string repr_text(nb::handle object);

// The name of the object's type, for messages.
std::string type_text(nb::handle object);

}  // namespace backslice::python
