#include "status.h"

namespace backslice::tensorflow {

void check(const OwnedStatus& status) {
  const char* const message = TF_Message(status.get());
  switch (const auto code = static_cast<StatusCode>(TF_GetCode(status.get()))) {
    case StatusCode::Ok: return;
    case StatusCode::Cancelled:
    case StatusCode::InvalidArgument:
    case StatusCode::ResourceExhausted:
    case StatusCode::FailedPrecondition:
    case StatusCode::OutOfRange:
    case StatusCode::Unimplemented:
    case StatusCode::Internal: throwing::refuse({code, message});
  }
  throwing::refuse({StatusCode::Internal, message});
}

OwnedStatus to_tensorflow(const Status& status) {
  OwnedStatus result = new_status();
  TF_SetStatus(result.get(), static_cast<int>(status.code()), status.message().c_str());
  return result;
}

}  // namespace backslice::tensorflow
