/// @file
/// Status: whether a call succeeded, and if not, why, as a value.
///
/// Nothing in backslice prints or aborts. A function that can fail returns a Status (or a Result<T>, see result.h) and
/// throws nothing. One that returns neither throws only std::bad_alloc, where it makes a text or a list, unless its
/// header says otherwise. The message names the argument, the axis, the offending value and what was expected:
///
///     if (Status s = strided_slice_grad_into(shape, spec, dy, out); !s.ok()) log(s.to_string());
///     // InvalidArgument: strides[0] must be non-zero (axis 0)
///
/// Where one argument is to blame, the Status also says which, as a value: argument() is "strides", position() is 0. Of
/// text, span() is the part to blame, and marked() shows it:
///
///     Result<Selection> s = Selection::from_index({4, 6}, text);
///     if (!s && s.status().span()) log(marked(text, *s.status().span()));
///     // 1:3, 9
///     //      ^
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
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

/// A part of a text: the bytes from begin to end, which is not included.
struct TextSpan {
  std::size_t begin = 0, end = 0;
  friend bool operator==(const TextSpan&, const TextSpan&) = default;
};

/// The text on one line and carets on the next, under the part. Long texts are cut around it; characters that are not
/// printed are shown as blanks.
BACKSLICE_EXPORT std::string marked(std::string_view text, TextSpan part);

/// Success, or a code and a message.
class [[nodiscard]] BACKSLICE_EXPORT Status {
 public:
  Status() = default;  ///< Success.
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::Ok; }
  StatusCode code() const { return code_; }
  const std::string& message() const& BACKSLICE_LIFETIME_BOUND { return message_; }
  std::string message() && { return std::move(message_); }
  std::string to_string() const;  ///< "InvalidArgument: strides[0] must be non-zero", or "Ok".

  /// True for the InvalidArgument errors whose cause is an element type: Python raises them as DTypeError.
  bool is_about_dtype() const { return about_dtype_; }
  Status about_dtype() && {
    about_dtype_ = true;
    return std::move(*this);
  }

  /// The wrong argument: its name in the function that was called, or that of a field of it ("strides" of a TfSlice,
  /// "out.values" of a RaggedView). Empty if there is none, or more than one. For "slices[3].dy" it is slices, and 3 is
  /// the position.
  std::string_view argument() const& BACKSLICE_LIFETIME_BOUND {
    return place_ ? std::string_view(place_->argument) : std::string_view();
  }
  std::string argument() && { return place_ ? place_->argument : std::string(); }
  /// The entry of that argument: the index in a list, the item of an index, the axis of a shape. For a list of lists,
  /// such as row splits, it is the list; the message also has the entry of that list.
  std::optional<std::int64_t> position() const { return place_ ? place_->position : std::nullopt; }
  /// The part of the text that the argument, or its entry, was read from.
  std::optional<TextSpan> span() const { return place_ ? place_->span : std::nullopt; }

  /// Whether an operation that writes into the caller's memory, or into a GradBuffer, may have written some of it
  /// before this error. If not, the memory is unchanged, and the call can be repeated. A sum that has begun cannot be
  /// repeated, except from a copy of the old values.
  bool output_written() const { return output_written_; }
  Status with_output_written() && {
    output_written_ = true;
    return std::move(*this);
  }

  /// Returns the same error with its place, which replaces an earlier one. The place of "slices[3].dy" is entry 3 of
  /// slices. Allocates.
  Status at(std::string_view argument, std::optional<std::int64_t> position = {}, std::optional<TextSpan> span = {}) &&;

 private:
  struct Place {
    std::string argument;
    std::optional<std::int64_t> position;
    std::optional<TextSpan> span;
  };

  StatusCode code_ = StatusCode::Ok;
  bool about_dtype_ = false, output_written_ = false;
  std::string message_;
  std::shared_ptr<const Place> place_;  // most are successes, which have none
};

/// Writes to_string().
BACKSLICE_EXPORT std::ostream& operator<<(std::ostream& stream, const Status& status);

}  // namespace backslice
