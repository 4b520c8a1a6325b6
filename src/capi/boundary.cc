#include "capi/boundary.h"

#include <string_view>

#include "backslice/c/base.h"

namespace backslice::capi {
namespace {

// Plain memory: a thread that fails needs to allocate nothing to say so, and nothing ends with the thread.
struct LastError {
  bool about_dtype, output_written, has_position, has_span;
  std::int64_t position, span_begin, span_end;
  char argument[64];  // the longest name of a parameter has less than half of that
  char message[4096];
};
thread_local LastError last_error;

// As much of the text as fits, cut between characters of UTF-8.
std::size_t fitting(std::string_view text, std::size_t room) {
  if (text.size() <= room) return text.size();
  while (room > 0 && (static_cast<unsigned char>(text[room]) & 0xc0) == 0x80) --room;
  return room;
}

template <std::size_t size>
void keep(std::string_view text, char (&into)[size]) {
  const std::size_t kept = fitting(text, size - 1);
  text.copy(into, kept);  // which takes texts without memory, too
  into[kept] = '\0';
}

}  // namespace

std::int32_t remember(const Status& status) noexcept {
  keep(status.message(), last_error.message);
  keep(status.argument(), last_error.argument);
  last_error.about_dtype = status.is_about_dtype();
  last_error.output_written = status.output_written();
  last_error.has_position = status.position().has_value();
  last_error.position = status.position().value_or(0);
  last_error.has_span = status.span().has_value();
  const TextSpan span = status.span().value_or(TextSpan());
  last_error.span_begin = static_cast<std::int64_t>(span.begin);
  last_error.span_end = static_cast<std::int64_t>(span.end);
  return static_cast<std::int32_t>(status.code());
}

}  // namespace backslice::capi

const char* backslice_last_error(void) { return backslice::capi::last_error.message; }

int32_t backslice_last_error_is_about_dtype(void) { return backslice::capi::last_error.about_dtype ? 1 : 0; }

int32_t backslice_last_error_output_written(void) { return backslice::capi::last_error.output_written ? 1 : 0; }

const char* backslice_last_error_argument(void) { return backslice::capi::last_error.argument; }

int64_t backslice_last_error_position(void) {
  const auto& last = backslice::capi::last_error;
  return last.has_position ? last.position : -1;
}

int32_t backslice_last_error_span(int64_t* begin, int64_t* end) {
  const auto& last = backslice::capi::last_error;
  if (!last.has_span) return 0;
  if (begin != nullptr) *begin = last.span_begin;
  if (end != nullptr) *end = last.span_end;
  return 1;
}
