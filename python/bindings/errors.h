// Turns Statuses into Python exceptions (backslice/errors.py).
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "backslice/result.h"
#include "bindings/text.h"

namespace backslice::python {

namespace nb = nanobind;

// Raises the exception of that name.
[[noreturn]] void raise_invalid_argument(const std::string& message);
[[noreturn]] void raise_dtype_error(const std::string& message);
// Sets the error as its __cause__.
[[noreturn]] void raise_dtype_error_from(nb::python_error& cause, const std::string& message);
[[noreturn]] void raise_out_of_range(const std::string& message);
[[noreturn]] void raise_unimplemented(const std::string& message);
// If the Status has a span, it is a span of `text`, and the message shows it.
[[noreturn]] void raise(const Status& status, std::string_view text = {});

// The same without a C++ exception, for callers that return to Python at once.
void set_error(const Status& status) noexcept;

inline void check(const Status& status) {
  if (!status.ok()) raise(status);
}

template <class T>
T unwrap(Result<T> result, std::string_view text = {}) {
  if (!result.ok()) raise(result.status(), text);
  return *std::move(result);
}

// Throws on Python errors that must not be translated: MemoryError, and classes that do not derive from Exception
// (KeyboardInterrupt, SystemExit, GeneratorExit). Returns for all others.
void pass_on_unless_ordinary(const nb::python_error& error);

// Returns whether it is one of the exceptions above.
bool is_own_error(const nb::python_error& error);

// Returns the text of an ordinary Python error, without its traceback, for another message. Throws other errors on.
std::string message_of(const nb::python_error& error);

}  // namespace backslice::python
