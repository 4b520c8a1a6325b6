// Making error Statuses: invalid_argument("strides[", i, "] must be non-zero") and its kin.
#pragma once

#include <new>
#include <string>
#include <string_view>
#include <type_traits>

#include "backslice/ints.h"
#include "backslice/shape.h"
#include "backslice/status.h"

namespace backslice {

namespace detail {

inline void append(std::string& text, std::string_view part) { text += part; }
inline void append(std::string& text, Ints part) { text += to_string(part); }
template <class Int>
  requires std::is_integral_v<Int>
void append(std::string& text, Int part) {
  text += std::to_string(part);
}

}  // namespace detail

template <class... Parts>
std::string join(const Parts&... parts) {
  std::string text;
  (detail::append(text, parts), ...);
  return text;
}

template <class... Parts>
Status invalid_argument(const Parts&... parts) {
  return Status(StatusCode::InvalidArgument, join(parts...));
}

template <class... Parts>
Status dtype_error(const Parts&... parts) {
  return invalid_argument(parts...).about_dtype();
}

template <class... Parts>
Status out_of_range(const Parts&... parts) {
  return Status(StatusCode::OutOfRange, join(parts...));
}

template <class... Parts>
Status unimplemented(const Parts&... parts) {
  return Status(StatusCode::Unimplemented, join(parts...));
}

template <class... Parts>
Status resource_exhausted(const Parts&... parts) {
  return Status(StatusCode::ResourceExhausted, join(parts...));
}

// Runs `body`, which returns a Status or a Result, and turns running out of memory into an error value. Every public
// function that may allocate goes through it. The message is short enough to need no allocation itself.
template <class Body>
auto without_throwing(Body&& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::ResourceExhausted, "out of memory");
  }
}

}  // namespace backslice

// Returns the error from the enclosing function, if there is one.
#define BACKSLICE_RETURN_IF_ERROR(expression)                      \
  if (::backslice::Status status_ = (expression); !status_.ok()) { \
    return status_;                                                \
  }
