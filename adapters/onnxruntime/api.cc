#include "api.h"

namespace backslice::onnxruntime {
namespace {

int error_code(StatusCode code) {
  switch (code) {
    case StatusCode::InvalidArgument:
    case StatusCode::OutOfRange: return kInvalidArgument;
    case StatusCode::Unimplemented: return kNotImplemented;
    default: return kFail;
  }
}

}  // namespace

OrtStatus* Api::status_of(const Status& status) const noexcept {
  return call(slots::kCreateStatus, error_code(status.code()), status.message().c_str());
}

Status Api::taken(OrtStatus* failure) const {
  Status status(StatusCode::Internal, call(slots::kGetErrorMessage, failure));
  call(slots::kReleaseStatus, failure);
  return status;
}

}  // namespace backslice::onnxruntime
