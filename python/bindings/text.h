// Text between Python and C++. Python's str may hold lone surrogates, which no UTF-8 has, and NULs, at which C strings
// end: everything that reads a str or shows an object in a message goes through here.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <string_view>

namespace backslice::python {

namespace nb = nanobind;

// The UTF-8 of a str, owned by the str; nothing where it has lone surrogates. Precondition: it is a str.
std::optional<std::string_view> utf8_of(nb::handle str);

// A str argument. Raises DTypeError for other types, InvalidArgumentError for lone surrogates.
std::string_view read_str(nb::handle object, const char* argument);

// A str of UTF-8; bytes that are none are shown as \xff.
nb::object new_str(std::string_view text);

// repr(object) and str(object) for messages: cut after so many letters, with `ending` instead of the rest, and a
// stand-in where they raise.
inline constexpr Py_ssize_t kMostLetters = 500;
std::string repr_text(nb::handle object, Py_ssize_t most = kMostLetters, const char* ending = " ...");
std::string str_text(nb::handle object);

// The name of the object's type, for messages.
std::string type_text(nb::handle object);

}  // namespace backslice::python
