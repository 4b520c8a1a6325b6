#include "data_types.h"

#include <algorithm>
#include <array>

#include "strings.h"

namespace backslice::tensorflow {
namespace {

constexpr auto kTypes = [] {
  using enum DType;
  constexpr std::optional<DType> kNone;
  return std::to_array<std::optional<DType>>(
      {kNone,          Float32,   Float64, Int32,      UInt8,        Int16,          Int8,
       StringView,     Complex64, Int64,   Bool,       QInt8,        QUInt8,         QInt32,
       BFloat16,       QInt16,    QUInt16, UInt16,     Complex128,   Float16,        kNone,
       kNone,          UInt32,    UInt64,  Float8E5M2, Float8E4M3FN, Float8E4M3FNUZ, Float8E4M3B11FNUZ,
       Float8E5M2FNUZ, Int4,      UInt4,   Int2,       UInt2,        Float4E2M1FN});
}();

template <class Predicate>
std::string types_where(const Predicate& predicate) {
  std::string types;
  for (std::size_t type = 0; type < kTypes.size(); ++type)
    if (kTypes[type] && predicate(*kTypes[type])) types.push_back(static_cast<char>(type));
  return types;
}

}  // namespace

std::optional<DType> dtype_of(int data_type) {
  if (data_type < 0 || data_type >= static_cast<int>(kTypes.size())) return std::nullopt;
  return kTypes[static_cast<std::size_t>(data_type)];
}

std::string_view name_of(int data_type) {
  switch (const DType dtype = dtype_of(data_type).value()) {
    case DType::Float32: return "float";
    case DType::Float64: return "double";
    case DType::Float16: return "half";
    case DType::StringView: return "string";
    default: return name(dtype);
  }
}

std::string all_types() {
  return types_where([](DType dtype) { return dtype != DType::StringView || has_string_functions(); });
}

std::string types_without_strided_slice() {
  using enum DType;
  constexpr DType kOthers[] = {QInt16, QUInt16, Float8E4M3FNUZ, Float8E4M3B11FNUZ, Float8E5M2FNUZ, Int4,
                               UInt4,  Int2,    UInt2,          Float4E2M1FN};
  return types_where([&](DType dtype) { return std::ranges::count(kOthers, dtype) > 0; });
}

}  // namespace backslice::tensorflow
