// Makes TensorFlow's errors.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backslice/c/base.h"

namespace backslice_tensorflow {

template <class... Parts>
absl::Status invalid_argument(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

template <class... Parts>
absl::Status resource_exhausted(const Parts&... parts) {
  return absl::ResourceExhaustedError(absl::StrCat(parts...));
}

// Returns the outcome of a function of backslice's C interface: its codes are TensorFlow's.
inline absl::Status status_of(std::int32_t code) {
  return code == BACKSLICE_OK ? absl::OkStatus()
                              : absl::Status(static_cast<absl::StatusCode>(code), backslice_last_error());
}

}  // namespace backslice_tensorflow
