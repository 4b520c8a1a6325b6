#include "backslice/dtype.h"

#include <array>
#include <cstddef>
#include <ostream>
#include <string>

namespace backslice {
namespace {

struct Info {
  DType dtype;
  std::string_view name;
  std::int64_t item_size;
  bool can_add;
};

// In the order of the enumeration, which table_is_in_order checks.
constexpr Info kTable[] = {
    {DType::Bool, "bool", 1, false},
    {DType::Int1, "int1", 1, true},
    {DType::Int2, "int2", 1, true},
    {DType::Int4, "int4", 1, true},
    {DType::Int8, "int8", 1, true},
    {DType::Int16, "int16", 2, true},
    {DType::Int32, "int32", 4, true},
    {DType::Int64, "int64", 8, true},
    {DType::UInt1, "uint1", 1, true},
    {DType::UInt2, "uint2", 1, true},
    {DType::UInt4, "uint4", 1, true},
    {DType::UInt8, "uint8", 1, true},
    {DType::UInt16, "uint16", 2, true},
    {DType::UInt32, "uint32", 4, true},
    {DType::UInt64, "uint64", 8, true},
    {DType::Float16, "float16", 2, true},
    {DType::BFloat16, "bfloat16", 2, true},
    {DType::Float32, "float32", 4, true},
    {DType::Float64, "float64", 8, true},
    {DType::Float8E3M4, "float8_e3m4", 1, true},
    {DType::Float8E4M3, "float8_e4m3", 1, true},
    {DType::Float8E4M3B11FNUZ, "float8_e4m3b11fnuz", 1, true},
    {DType::Float8E4M3FN, "float8_e4m3fn", 1, true},
    {DType::Float8E4M3FNUZ, "float8_e4m3fnuz", 1, true},
    {DType::Float8E5M2, "float8_e5m2", 1, true},
    {DType::Float8E5M2FNUZ, "float8_e5m2fnuz", 1, true},
    {DType::Float8E8M0FNU, "float8_e8m0fnu", 1, true},
    {DType::Float6E2M3FN, "float6_e2m3fn", 1, true},
    {DType::Float6E3M2FN, "float6_e3m2fn", 1, true},
    {DType::Float4E2M1FN, "float4_e2m1fn", 1, true},
    {DType::Complex64, "complex64", 8, true},
    {DType::Complex128, "complex128", 16, true},
    {DType::QInt8, "qint8", 1, false},
    {DType::QUInt8, "quint8", 1, false},
    {DType::QInt16, "qint16", 2, false},
    {DType::QUInt16, "quint16", 2, false},
    {DType::QInt32, "qint32", 4, false},
    {DType::String, "string", sizeof(std::string), false},
    {DType::Bytes, "bytes", 0, false},
    {DType::StringView, "string_view", 16, false},
};

constexpr std::size_t kCount = std::size(kTable);

constexpr bool table_is_in_order() {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (static_cast<std::size_t>(kTable[i].dtype) != i) return false;
  }
  return kTable[kCount - 1].dtype == DType::StringView;
}
static_assert(table_is_in_order());

constexpr auto kAll = [] {
  std::array<DType, kCount> all{};
  for (std::size_t i = 0; i < kCount; ++i) all[i] = kTable[i].dtype;
  return all;
}();

const Info& info(DType dtype) {
  static constexpr Info kUnknown{DType::Bytes, "unknown", 0, false};
  return is_element_type(dtype) ? kTable[static_cast<std::size_t>(dtype)] : kUnknown;
}

}  // namespace

std::string_view name(DType dtype) { return info(dtype).name; }
std::ostream& operator<<(std::ostream& stream, DType dtype) { return stream << name(dtype); }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const Info& entry : kTable) {
    if (entry.name == name) return entry.dtype;
  }
  return std::nullopt;
}

std::span<const DType> all_dtypes() { return kAll; }

bool is_element_type(DType dtype) { return static_cast<std::size_t>(dtype) < kCount; }

std::int64_t item_size(DType dtype) { return info(dtype).item_size; }

bool can_add(DType dtype) { return info(dtype).can_add; }

bool has_zero(DType dtype) { return dtype != DType::Float8E8M0FNU && is_element_type(dtype); }

}  // namespace backslice
