// Text between Python and C++. Python's str may hold lone surrogates, which UTF-8 excludes, and NULs, which end C
// strings. All code that reads a str or shows an object in a message uses these functions.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <string_view>

namespace backslice::python {

namespace nb = nanobind;

// Returns the UTF-8 of a str, owned by the str; nullopt for lone surrogates. Precondition: it is a str.
std::optional<std::string_view> utf8_of(nb::handle str);

// Reads a str argument. Raises DTypeError for other types, InvalidArgumentError for lone surrogates.
std::string_view read_str(nb::handle object, const char* argument);

// Makes a str from UTF-8; bytes that are not UTF-8 are shown as \xff.
nb::object new_str(std::string_view text);

// Returns repr(object) or str(object) for messages, cut after so many letters with `ending` in place of the rest. A
// placeholder if they raise.
inline constexpr Py_ssize_t kMostLetters = 500;
std::string repr_text(nb::handle object, Py_ssize_t most = kMostLetters, const char* ending = " ...");
std::string str_text(nb::handle object);

// Returns the name of the object's type, for messages.
std::string type_text(nb::handle object);

}  // namespace backslice::python
