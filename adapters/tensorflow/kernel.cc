#include "kernel.h"

#include "kernel_def.h"

namespace backslice::tensorflow {
namespace {

void throw_unless_ok(const OwnedStatus& status) {
  if (TF_GetCode(status.get()) != 0) throw StatusException({StatusCode::Internal, TF_Message(status.get())});
}

}  // namespace

Status register_kernel(const char* op, const std::string& types, std::int32_t priority, const char* name,
                       TF_KernelBuilder* builder) {
  const OwnedStatus status = new_status();
  TF_RegisterKernelBuilderWithKernelDef(kernel_def(op, types, priority).c_str(), name, builder, status.get());
  return from_tensorflow(status.get());
}

std::int32_t Attributes::integer(const char* name) const {
  const OwnedStatus status = new_status();
  std::int32_t value = 0;
  TF_OpKernelConstruction_GetAttrInt32(construction_, name, &value, status.get());
  throw_unless_ok(status);
  return value;
}

std::vector<std::int32_t> Attributes::integers(const char* name) const {
  const OwnedStatus status = new_status();
  std::int32_t size = 0, bytes = 0;
  TF_OpKernelConstruction_GetAttrSize(construction_, name, &size, &bytes, status.get());
  throw_unless_ok(status);
  std::vector<std::int32_t> values(static_cast<std::size_t>(size));
  TF_OpKernelConstruction_GetAttrInt32List(construction_, name, values.data(), size, status.get());
  throw_unless_ok(status);
  return values;
}

namespace detail {

void* refused(TF_OpKernelConstruction* construction, const Status& status) {
  TF_OpKernelConstruction_Failure(construction, to_tensorflow(status).get());
  return nullptr;
}

void report(TF_OpKernelContext* context, const Status& status) {
  TF_OpKernelContext_Failure(context, to_tensorflow(status).get());
}

}  // namespace detail
}  // namespace backslice::tensorflow
