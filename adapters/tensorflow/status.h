// Errors, to TensorFlow and back.
#pragma once

#include <memory>
#include <sstream>
#include <string>

#include "backslice/status.h"
#include "c_api.h"
#include "core/boundary.h"

namespace backslice::tensorflow {

using throwing::unwrap;

struct DeleteStatus {
  void operator()(TF_Status* status) const { TF_DeleteStatus(status); }
};
using OwnedStatus = std::unique_ptr<TF_Status, DeleteStatus>;

inline OwnedStatus new_status() { return OwnedStatus(TF_NewStatus()); }

/// Throws TensorFlow's error, if there is one. Its codes that we do not have become Internal.
void check(const OwnedStatus& status);
OwnedStatus to_tensorflow(const Status& status);

/// Ends a kernel's run with an InvalidArgument.
template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throwing::refuse({StatusCode::InvalidArgument, std::move(message).str()});
}

}  // namespace backslice::tensorflow
