// Errors as TensorFlow has them.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace backslice_tensorflow {

template <class... Parts>
absl::Status invalid_argument(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

template <class... Parts>
absl::Status resource_exhausted(const Parts&... parts) {
  return absl::ResourceExhaustedError(absl::StrCat(parts...));
}

}  // namespace backslice_tensorflow
