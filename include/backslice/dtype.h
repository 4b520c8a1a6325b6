// DType: the element types, and what can be done with each.
//
// Every dtype can be moved, by its width alone. Some can be added, which needs the type itself (see
// src/core/visit_dtype.h). All but float8_e8m0fnu have a zero, whose bytes are all zero; the zero of a string is
// the empty string.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "backslice/export.h"

namespace backslice {

enum class DType : std::uint8_t {
  Bool,
  Int1,  // the integers of 1, 2 and 4 bits take one byte an element, as in ml_dtypes
  Int2,
  Int4,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt1,
  UInt2,
  UInt4,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Float16,
  BFloat16,
  Float32,
  Float64,
  Float8E3M4,
  Float8E4M3,
  Float8E4M3B11FNUZ,
  Float8E4M3FN,
  Float8E4M3FNUZ,
  Float8E5M2,
  Float8E5M2FNUZ,
  Float8E8M0FNU,
  Float6E2M3FN,
  Float6E3M2FN,
  Float4E2M1FN,
  Complex64,
  Complex128,
  QInt8,
  QUInt8,
  QInt16,
  QUInt16,
  QInt32,
  String,  // std::string elements
  Bytes,   // opaque items of any fixed size; their zero is all zero bytes
};

// The name Python and TensorFlow know it by: "float32", "bfloat16", "qint8", ...
BACKSLICE_EXPORT std::string_view name(DType dtype);

// The dtype of that name, if there is one.
BACKSLICE_EXPORT std::optional<DType> dtype_from_name(std::string_view name);

// All dtypes, in the order of the enumeration.
BACKSLICE_EXPORT std::span<const DType> all_dtypes();

// Bytes an element; 0 for Bytes, whose size each view carries itself.
BACKSLICE_EXPORT std::int64_t item_size(DType dtype);

// Whether two elements can be added: false for bool, quantised types, strings and bytes.
BACKSLICE_EXPORT bool can_add(DType dtype);

// Whether zero can be represented: false for float8_e8m0fnu alone.
BACKSLICE_EXPORT bool has_zero(DType dtype);

}  // namespace backslice
