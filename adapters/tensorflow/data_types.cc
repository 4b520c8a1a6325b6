#include "data_types.h"

#include <array>

namespace backslice::tensorflow {
namespace {

constexpr auto kTypes = [] {
  std::array<std::optional<DType>, 34> types;
  types[kFloat] = DType::Float32;
  types[kDouble] = DType::Float64;
  types[kInt32] = DType::Int32;
  types[kUInt8] = DType::UInt8;
  types[kInt16] = DType::Int16;
  types[kInt8] = DType::Int8;
  types[kString] = DType::StringView;
  types[kComplex64] = DType::Complex64;
  types[kInt64] = DType::Int64;
  types[kBool] = DType::Bool;
  types[kQInt8] = DType::QInt8;
  types[kQUInt8] = DType::QUInt8;
  types[kQInt32] = DType::QInt32;
  types[kBFloat16] = DType::BFloat16;
  types[kQInt16] = DType::QInt16;
  types[kQUInt16] = DType::QUInt16;
  types[kUInt16] = DType::UInt16;
  types[kComplex128] = DType::Complex128;
  types[kHalf] = DType::Float16;
  types[kUInt32] = DType::UInt32;
  types[kUInt64] = DType::UInt64;
  types[kFloat8E5M2] = DType::Float8E5M2;
  types[kFloat8E4M3FN] = DType::Float8E4M3FN;
  types[kFloat8E4M3FNUZ] = DType::Float8E4M3FNUZ;
  types[kFloat8E4M3B11FNUZ] = DType::Float8E4M3B11FNUZ;
  types[kFloat8E5M2FNUZ] = DType::Float8E5M2FNUZ;
  types[kInt4] = DType::Int4;
  types[kUInt4] = DType::UInt4;
  types[kInt2] = DType::Int2;
  types[kUInt2] = DType::UInt2;
  types[kFloat4E2M1FN] = DType::Float4E2M1FN;
  return types;
}();

}  // namespace

std::optional<DType> dtype_of(int data_type) {
  if (data_type < 0 || data_type >= static_cast<int>(kTypes.size())) return std::nullopt;
  return kTypes[static_cast<std::size_t>(data_type)];
}

std::string_view name_of(int data_type) {
  switch (data_type) {
    case kFloat: return "float";
    case kDouble: return "double";
    case kHalf: return "half";
    case kString: return "string";
    default: return name(dtype_of(data_type).value());
  }
}

std::string all_types() {
  std::string types;
  for (std::size_t type = 0; type < kTypes.size(); ++type)
    if (kTypes[type]) types.push_back(static_cast<char>(type));
  return types;
}

std::string types_without_strided_slice() {
  return {kQInt16, kQUInt16, kFloat8E4M3FNUZ, kFloat8E4M3B11FNUZ, kFloat8E5M2FNUZ, kInt4,
          kUInt4,  kInt2,    kUInt2,          kFloat4E2M1FN};
}

}  // namespace backslice::tensorflow
