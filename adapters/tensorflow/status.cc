#include "status.h"

#include "data_types.h"

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

Status out_of_memory(Ints shape, int data_type, const Status& ours) {
  std::ostringstream message;
  message << "OOM when allocating tensor with shape" << shape << " and type " << name_of(data_type) << ": "
          << ours.message();
  return {StatusCode::ResourceExhausted, std::move(message).str()};
}

}  // namespace backslice::tensorflow
