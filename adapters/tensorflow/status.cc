#include "status.h"

namespace backslice::tensorflow {

Status from_tensorflow(const TF_Status* status) {
  switch (const auto code = static_cast<StatusCode>(TF_GetCode(status))) {
    case StatusCode::Ok: return {};
    case StatusCode::Cancelled:
    case StatusCode::InvalidArgument:
    case StatusCode::ResourceExhausted:
    case StatusCode::FailedPrecondition:
    case StatusCode::OutOfRange:
    case StatusCode::Unimplemented:
    case StatusCode::Internal: return {code, TF_Message(status)};
  }
  return {StatusCode::Internal, TF_Message(status)};
}

OwnedStatus to_tensorflow(const Status& status) {
  OwnedStatus result = new_status();
  TF_SetStatus(result.get(), static_cast<int>(status.code()), status.message().c_str());
  return result;
}

}  // namespace backslice::tensorflow
