#include "node.h"

#include "core/errors.h"
#include "input.h"

namespace backslice::onnxruntime {

template <class... Values>
bool Node::has(Slot<OrtStatus*(const OrtKernelInfo*, const char*, Values...)> slot, const char* name,
               std::type_identity_t<Values>... values) const {
  OrtStatus* failure = api_.call(slot, info_, name, values...);
  if (failure == nullptr) return true;
  api_.call(slots::kReleaseStatus, failure);
  return false;
}

// ONNX Runtime reports an attribute of another type only when that type is requested. Lists of any attribute it
// returns, without entries if the type differs.
void Node::check_absent(const char* name, const char* expected) const {
  float number = 0;
  std::int64_t integer = 0;
  std::size_t length = 0, floats = 0, integers = 0;
  if (has(slots::kGetIntegerAttribute, name, &integer) || has(slots::kGetFloatAttribute, name, &number) ||
      has(slots::kGetStringAttribute, name, nullptr, &length) ||
      has(slots::kGetFloatsAttribute, name, nullptr, &floats) ||
      has(slots::kGetIntegersAttribute, name, nullptr, &integers)) {
    refuse(invalid_argument("attribute ", name, " is empty or has another type, expected ", expected,
                            "; leave it out for the default"));
  }
}

std::int64_t Node::integer(const char* name, std::int64_t otherwise) const {
  std::int64_t value = 0;
  if (has(slots::kGetIntegerAttribute, name, &value)) return value;
  check_absent(name, "an integer");
  return otherwise;
}

std::string Node::text(const char* name, const char* otherwise) const {
  std::size_t size = 0;  // with the terminating zero
  if (!has(slots::kGetStringAttribute, name, nullptr, &size) || size == 0) {
    check_absent(name, "a text");
    return otherwise;
  }
  std::string value(size, '\0');
  api_.require(slots::kGetStringAttribute, info_, name, value.data(), &size);
  value.resize(size - 1);
  return value;
}

std::vector<std::int64_t> Node::integers(const char* name) const {
  std::size_t size = 0;
  if (!has(slots::kGetIntegersAttribute, name, nullptr, &size) || size == 0) {
    check_absent(name, "a list of integers");
    return {};
  }
  std::vector<std::int64_t> values(size);
  api_.require(slots::kGetIntegersAttribute, info_, name, values.data(), &size);
  return values;
}

std::size_t Node::inputs() const {
  std::size_t count = 0;
  api_.require(slots::kGetNodeInputCount, info_, &count);
  return count;
}

std::optional<Declared> Node::declared(decltype(slots::kGetNodeInputType) slot, std::size_t index) const {
  OrtTypeInfo* info = nullptr;
  if (OrtStatus* failure = api_.call(slot, info_, index, &info)) {  // it is missing
    api_.call(slots::kReleaseStatus, failure);
    return std::nullopt;
  }
  const auto release = [this](OrtTypeInfo* p) { api_.call(slots::kReleaseTypeInfo, p); };
  const std::unique_ptr<OrtTypeInfo, decltype(release)> owned(info, release);
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;  // the other owns it
  api_.require(slots::kCastTypeInfo, info, &tensor);
  if (tensor == nullptr) return std::nullopt;
  Declared found;
  std::size_t rank = 0;
  api_.require(slots::kGetTensorElementType, tensor, &found.type);
  api_.require(slots::kGetDimensionsCount, tensor, &rank);
  found.dims.resize(rank);
  if (rank > 0) api_.require(slots::kGetDimensions, tensor, found.dims.data(), rank);
  return found;
}

std::optional<std::vector<std::int64_t>> Node::constant_list(std::size_t index) const {
  int is_constant = 0;
  const OrtValue* value = nullptr;
  api_.require(slots::kGetConstantInput, info_, index, &is_constant, &value);
  if (is_constant == 0) return std::nullopt;
  const Input input(api_, value, "");
  if (input.dims().size() != 1 || (input.type() != kInt32 && input.type() != kInt64)) return std::nullopt;
  return input.integers();
}

}  // namespace backslice::onnxruntime
