#include "capi/boundary.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "backslice/c/base.h"

namespace backslice::capi {
namespace {

// Plain memory: a thread that fails needs to allocate nothing to say so, and nothing ends with the thread.
struct LastError {
  bool about_dtype;
  char message[4096];
};
thread_local LastError last_error;

// As much of the text as fits, cut between characters of UTF-8.
std::size_t fitting(std::string_view text, std::size_t room) {
  if (text.size() <= room) return text.size();
  while (room > 0 && (static_cast<unsigned char>(text[room]) & 0xc0) == 0x80) --room;
  return room;
}

}  // namespace

std::int32_t remember(const Status& status) noexcept {
  const std::string_view message = status.message();
  const std::size_t size = fitting(message, sizeof(last_error.message) - 1);
  std::memcpy(last_error.message, message.data(), size);
  last_error.message[size] = '\0';
  last_error.about_dtype = status.is_about_dtype();
  return static_cast<std::int32_t>(status.code());
}

}  // namespace backslice::capi

const char* backslice_last_error(void) { return backslice::capi::last_error.message; }

int32_t backslice_last_error_is_about_dtype(void) { return backslice::capi::last_error.about_dtype ? 1 : 0; }
