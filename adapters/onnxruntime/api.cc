#include "api.h"

#include <memory>

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
  const auto release = [this](OrtStatus* status) { call(slots::kReleaseStatus, status); };
  const std::unique_ptr<OrtStatus, decltype(release)> owned(failure, release);
  return Status(StatusCode::Internal, call(slots::kGetErrorMessage, failure));
}

}  // namespace backslice::onnxruntime
