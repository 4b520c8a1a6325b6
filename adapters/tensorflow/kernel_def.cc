#include "kernel_def.h"

namespace backslice::tensorflow {
namespace {

std::string varint(std::uint32_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

std::string field(std::uint32_t number, std::string_view content) {
  return varint(number << 3 | 2) + varint(static_cast<std::uint32_t>(content.size())) + std::string(content);
}

std::string field(std::uint32_t number, std::uint32_t value) { return varint(number << 3) + varint(value); }

}  // namespace

std::string kernel_def(std::string_view op, std::string_view types, std::int32_t priority) {
  const std::string allowed = field(1, field(6, types));  // AttrValue.list, ListValue.type
  const std::string constraint = field(1, std::string_view("T")) + field(2, allowed);
  return field(1, op) + field(2, std::string_view("CPU")) + field(3, constraint) +
         field(6, static_cast<std::uint32_t>(priority));
}

std::string node_def(std::string_view op, int type) {
  const std::string value = field(6, static_cast<std::uint32_t>(type));  // AttrValue.type
  const std::string entry = field(1, std::string_view("T")) + field(2, value);
  return field(1, op) + field(2, op) + field(5, entry);
}

}  // namespace backslice::tensorflow
