// Making error Statuses: invalid_argument("strides[", i, "] must be non-zero") and the like.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "backslice/ints.h"
#include "backslice/shape.h"
#include "backslice/status.h"
#include "core/boundary.h"

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

// "1 entry", "2 entries"
template <std::integral Int>
std::string counted(Int count, std::string_view one, std::string_view many) {
  return join(count, " ", count == 1 ? one : many);
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

// The same error, about that argument unless it names one already.
inline Status blamed(Status error, std::string_view argument, std::optional<std::int64_t> position = {}) {
  if (error.ok() || !error.argument().empty()) return error;
  return std::move(error).at(argument, position);
}

}  // namespace backslice

// Returns the error from the enclosing function, if there is one.
#define BACKSLICE_RETURN_IF_ERROR(expression)                      \
  if (::backslice::Status status_ = (expression); !status_.ok()) { \
    return status_;                                                \
  }
