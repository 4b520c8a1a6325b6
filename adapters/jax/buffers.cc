#include "buffers.h"

#include "core/errors.h"

namespace backslice::jax {

using xla::ffi::DataType;

std::optional<DType> dtype_of(DataType type) {
  switch (type) {
    case DataType::PRED: return DType::Bool;
    case DataType::S8: return DType::Int8;
    case DataType::S16: return DType::Int16;
    case DataType::S32: return DType::Int32;
    case DataType::S64: return DType::Int64;
    case DataType::U8: return DType::UInt8;
    case DataType::U16: return DType::UInt16;
    case DataType::U32: return DType::UInt32;
    case DataType::U64: return DType::UInt64;
    case DataType::F16: return DType::Float16;
    case DataType::BF16: return DType::BFloat16;
    case DataType::F32: return DType::Float32;
    case DataType::F64: return DType::Float64;
    case DataType::C64: return DType::Complex64;
    case DataType::C128: return DType::Complex128;
    case DataType::F8E3M4: return DType::Float8E3M4;
    case DataType::F8E4M3: return DType::Float8E4M3;
    case DataType::F8E4M3B11FNUZ: return DType::Float8E4M3B11FNUZ;
    case DataType::F8E4M3FN: return DType::Float8E4M3FN;
    case DataType::F8E4M3FNUZ: return DType::Float8E4M3FNUZ;
    case DataType::F8E5M2: return DType::Float8E5M2;
    case DataType::F8E5M2FNUZ: return DType::Float8E5M2FNUZ;
    case DataType::F8E8M0FNU: return DType::Float8E8M0FNU;
    default: return std::nullopt;
  }
}

Result<View> view_of(const xla::ffi::AnyBuffer& buffer, std::string_view name, Device device) {
  const std::optional<DType> dtype = dtype_of(buffer.element_type());
  if (!dtype)
    return unimplemented(name, " has XLA's element type ", static_cast<int>(buffer.element_type()),
                         ", which this version of backslice does not know");
  const auto dimensions = buffer.dimensions();
  return View::contiguous(buffer.untyped_data(), *dtype, Ints(dimensions.begin(), dimensions.size()), 0, device);
}

xla::ffi::Error to_xla(const Status& status) {
  // Both use gRPC's numbers.
  return {static_cast<xla::ffi::ErrorCode>(status.code()), "backslice: " + status.message()};
}

}  // namespace backslice::jax
