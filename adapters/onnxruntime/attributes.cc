#include "attributes.h"

#include "core/errors.h"

namespace backslice::onnxruntime {

template <class... Values>
bool Attributes::has(Slot<OrtStatus*(const OrtKernelInfo*, const char*, Values...)> slot, const char* name,
                     std::type_identity_t<Values>... values) const {
  OrtStatus* failure = api_.call(slot, info_, name, values...);
  if (failure == nullptr) return true;
  api_.call(slots::kReleaseStatus, failure);
  return false;
}

// ONNX Runtime tells an attribute of another type from none by asking for that type alone; lists of any attribute it
// has, with no entries where the type is another.
void Attributes::check_absent(const char* name, const char* expected) const {
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

std::int64_t Attributes::integer(const char* name, std::int64_t otherwise) const {
  std::int64_t value = 0;
  if (has(slots::kGetIntegerAttribute, name, &value)) return value;
  check_absent(name, "an integer");
  return otherwise;
}

std::string Attributes::text(const char* name, const char* otherwise) const {
  std::size_t size = 0;  // with the zero at its end
  if (!has(slots::kGetStringAttribute, name, nullptr, &size) || size == 0) {
    check_absent(name, "a text");
    return otherwise;
  }
  std::string value(size, '\0');
  api_.require(slots::kGetStringAttribute, info_, name, value.data(), &size);
  value.resize(size - 1);
  return value;
}

std::vector<std::int64_t> Attributes::integers(const char* name) const {
  std::size_t size = 0;
  if (!has(slots::kGetIntegersAttribute, name, nullptr, &size) || size == 0) {
    check_absent(name, "a list of integers");
    return {};
  }
  std::vector<std::int64_t> values(size);
  api_.require(slots::kGetIntegersAttribute, info_, name, values.data(), &size);
  return values;
}

}  // namespace backslice::onnxruntime
