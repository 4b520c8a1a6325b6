#include "kernel.h"

#include <string_view>

namespace backslice::tensorflow {
namespace {

// TensorFlow's own kernels have 0. Two kernels of one priority are an error when the op first runs, so no other library
// is likely to have this number.
constexpr char kPriority = 117;

// Precondition: fewer than 128 bytes, so that their number is one byte.
std::string field(int number, std::string_view content) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())}.append(content);
}

// Returns TensorFlow's description of a kernel, as a serialised protocol buffer: the C interface's other functions that
// constrain types know fewer of them. It contains no zero byte, at which TensorFlow would end it.
std::string kernel_def(std::string_view op, std::string_view types, std::string_view label) {
  const std::string allowed = field(1, field(6, types));  // AttrValue.list, ListValue.type
  const std::string definition = field(1, op) + field(2, "CPU") + field(3, field(1, "T") + field(2, allowed));
  return definition + (label.empty() ? std::string{6 << 3, kPriority} : field(5, label));
}

}  // namespace

bool Attributes::has(const char* name) const {
  const OwnedStatus status = new_status();
  return TF_OpKernelConstruction_HasAttr(construction_, name, status.get());
}

std::int32_t Attributes::integer(const char* name) const {
  const OwnedStatus status = new_status();
  std::int32_t value = 0;
  TF_OpKernelConstruction_GetAttrInt32(construction_, name, &value, status.get());
  check(status);
  return value;
}

std::vector<std::int32_t> Attributes::integers(const char* name) const {
  const OwnedStatus status = new_status();
  std::int32_t size = 0, bytes = 0;
  TF_OpKernelConstruction_GetAttrSize(construction_, name, &size, &bytes, status.get());
  check(status);
  std::vector<std::int32_t> values(static_cast<std::size_t>(size));
  TF_OpKernelConstruction_GetAttrInt32List(construction_, name, values.data(), size, status.get());
  check(status);
  return values;
}

namespace detail {

void report(TF_OpKernelConstruction* construction, const Status& status) {
  TF_OpKernelConstruction_Failure(construction, to_tensorflow(status).get());
}

void report(TF_OpKernelContext* context, const Status& status) {
  TF_OpKernelContext_Failure(context, to_tensorflow(status).get());
}

void register_builder(const std::string& op, const std::string& types, const std::string& label,
                      TF_KernelBuilder* builder) {
  const OwnedStatus status = new_status();
  const std::string name = "Backslice" + op;
  TF_RegisterKernelBuilderWithKernelDef(kernel_def(op, types, label).c_str(), name.c_str(), builder, status.get());
  check(status);
}

}  // namespace detail
}  // namespace backslice::tensorflow
