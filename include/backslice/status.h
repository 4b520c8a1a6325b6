/// @file
/// Status: whether a call succeeded, and if not, why, as a value.
///
/// Nothing in backslice prints or aborts. A function that can fail returns a Status (or a Result<T>, see result.h) and
/// throws nothing; the few that return neither say in their header what they throw. The message names the argument, the
/// axis, the offending value and what was expected:
///
///     if (Status s = strided_slice_grad_into(shape, spec, dy, out); !s.ok()) log(s.to_string());
///     // InvalidArgument: strides[0] must be non-zero (axis 0)
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

#include "backslice/export.h"

namespace backslice {

/// The names and numbers are those of gRPC and TensorFlow.
enum class StatusCode : std::uint8_t {
  Ok = 0,
  Cancelled = 1,
  InvalidArgument = 3,
  ResourceExhausted = 8,
  FailedPrecondition = 9,
  OutOfRange = 11,
  Unimplemented = 12,
  Internal = 13,
};

BACKSLICE_EXPORT std::string_view to_string(StatusCode code);
BACKSLICE_EXPORT std::ostream& operator<<(std::ostream& stream, StatusCode code);

/// Success, or a code and a message.
class [[nodiscard]] BACKSLICE_EXPORT Status {
 public:
  Status() = default;  ///< Success.
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::Ok; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }
  std::string to_string() const;  ///< "InvalidArgument: strides[0] must be non-zero", or "Ok".

  /// True for the InvalidArgument errors whose cause is an element type: Python raises them as DTypeError.
  bool is_about_dtype() const { return about_dtype_; }
  Status about_dtype() && {
    about_dtype_ = true;
    return std::move(*this);
  }

 private:
  StatusCode code_ = StatusCode::Ok;
  bool about_dtype_ = false;
  std::string message_;
};

/// What to_string() says.
BACKSLICE_EXPORT std::ostream& operator<<(std::ostream& stream, const Status& status);

}  // namespace backslice
