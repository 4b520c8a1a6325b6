// Errors of this adapter, put together from their parts.
#pragma once

#include <sstream>

#include "backslice/ints.h"
#include "backslice/status.h"

namespace backslice::onnxruntime {

template <class... Parts>
Status invalid_argument(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  return {StatusCode::InvalidArgument, std::move(message).str()};
}

}  // namespace backslice::onnxruntime
