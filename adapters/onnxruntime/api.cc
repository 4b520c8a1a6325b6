#include "api.h"

#include <memory>
#include <new>
#include <string>

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

// With the name that ONNX gives strings.
std::string in_terms_of_onnx(std::string message) {
  constexpr std::string_view ours = "dtype string_view", theirs = "dtype string";
  const std::size_t place = message.find(ours);
  if (place != std::string::npos) message.replace(place, ours.size(), theirs);
  return message;
}

}  // namespace

OrtStatus* Api::status_of(const Status& status) const noexcept {
  const auto made = [&](const char* message) { return call(slots::kCreateStatus, error_code(status.code()), message); };
  try {
    return made(in_terms_of_onnx(status.message()).c_str());
  } catch (const std::bad_alloc&) {
    return made(status.message().c_str());
  }
}

Status Api::taken(OrtStatus* failure) const {
  const auto release = [this](OrtStatus* status) { call(slots::kReleaseStatus, status); };
  const std::unique_ptr<OrtStatus, decltype(release)> owned(failure, release);
  return Status(StatusCode::Internal, call(slots::kGetErrorMessage, failure));
}

}  // namespace backslice::onnxruntime
