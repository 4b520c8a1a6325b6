// Errors, to TensorFlow and back.
#pragma once

#include <memory>
#include <sstream>
#include <string>

#include "backslice/status.h"
#include "c_api.h"

namespace backslice::tensorflow {

struct DeleteStatus {
  void operator()(TF_Status* status) const { TF_DeleteStatus(status); }
};
using OwnedStatus = std::unique_ptr<TF_Status, DeleteStatus>;

inline OwnedStatus new_status() { return OwnedStatus(TF_NewStatus()); }

/// What TensorFlow said. Its codes that we do not have become Internal.
Status from_tensorflow(const TF_Status* status);
OwnedStatus to_tensorflow(const Status& status);

template <class... Parts>
Status invalid_argument(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  return {StatusCode::InvalidArgument, std::move(message).str()};
}

}  // namespace backslice::tensorflow
