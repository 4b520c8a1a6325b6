#include "element_types.h"

#include <iterator>

namespace backslice::onnxruntime {
namespace {

constexpr std::optional<ElementType> kTypes[] = {
    std::nullopt,  // undefined
    ElementType{DType::Float32},
    ElementType{DType::UInt8},
    ElementType{DType::Int8},
    ElementType{DType::UInt16},
    ElementType{DType::Int16},
    ElementType{DType::Int32},
    ElementType{DType::Int64},
    ElementType{DType::StringView},
    ElementType{DType::Bool},
    ElementType{DType::Float16},
    ElementType{DType::Float64},
    ElementType{DType::UInt32},
    ElementType{DType::UInt64},
    ElementType{DType::Complex64},
    ElementType{DType::Complex128},
    ElementType{DType::BFloat16},
    ElementType{DType::Float8E4M3FN},
    ElementType{DType::Float8E4M3FNUZ},
    ElementType{DType::Float8E5M2},
    ElementType{DType::Float8E5M2FNUZ},
    ElementType{DType::UInt4, 2},
    ElementType{DType::Int4, 2},
    ElementType{DType::Float4E2M1FN, 2},
    ElementType{DType::UInt2, 4},
    ElementType{DType::Int2, 4},
    ElementType{DType::Float8E8M0FNU},
};

bool is_signed(DType dtype) { return dtype == DType::Int4 || dtype == DType::Int2; }

}  // namespace

std::optional<ElementType> element_type(int number) {
  if (number < 0 || number >= std::ssize(kTypes)) return std::nullopt;
  return kTypes[number];
}

std::string_view name_of(ElementType type) { return type.dtype == DType::StringView ? "string" : name(type.dtype); }

void unpack(const std::byte* packed, std::int64_t count, ElementType type, std::byte* elements) {
  const int bits = 8 / type.per_byte;
  const int mask = (1 << bits) - 1, sign = is_signed(type.dtype) ? 1 << (bits - 1) : 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const int value = std::to_integer<int>(packed[i / type.per_byte]) >> (i % type.per_byte * bits) & mask;
    elements[i] = static_cast<std::byte>((value ^ sign) - sign);
  }
}

void pack(const std::byte* elements, std::int64_t count, ElementType type, std::byte* packed) {
  const int bits = 8 / type.per_byte;
  const std::byte mask{static_cast<unsigned char>((1 << bits) - 1)};
  for (std::int64_t i = 0; i < packed_size(count, type); ++i) packed[i] = std::byte{0};
  for (std::int64_t i = 0; i < count; ++i) {
    packed[i / type.per_byte] |= (elements[i] & mask) << static_cast<int>(i % type.per_byte * bits);
  }
}

}  // namespace backslice::onnxruntime
