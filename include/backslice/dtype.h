/// @file
/// DType: the element types, and what can be done with each.
///
/// Every dtype can be moved, by its width alone. Some can be added, which needs the type itself (see
/// src/core/visit_dtype.h). All but float8_e8m0fnu have a zero, whose bytes are all zero; the zero of a string is
/// the empty string.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string_view>

#include "backslice/export.h"

namespace backslice {

/// The element types. The numbers are part of the ABI: they never change, and new dtypes get new ones.
enum class DType : std::uint8_t {
  Bool = 0,
  Int1 = 1,  ///< The integers of 1, 2 and 4 bits take one byte per element, as in ml_dtypes.
  Int2 = 2,
  Int4 = 3,
  Int8 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  UInt1 = 8,
  UInt2 = 9,
  UInt4 = 10,
  UInt8 = 11,
  UInt16 = 12,
  UInt32 = 13,
  UInt64 = 14,
  Float16 = 15,
  BFloat16 = 16,
  Float32 = 17,
  Float64 = 18,
  Float8E3M4 = 19,
  Float8E4M3 = 20,
  Float8E4M3B11FNUZ = 21,
  Float8E4M3FN = 22,
  Float8E4M3FNUZ = 23,
  Float8E5M2 = 24,
  Float8E5M2FNUZ = 25,
  Float8E8M0FNU = 26,
  Float6E2M3FN = 27,
  Float6E3M2FN = 28,
  Float4E2M1FN = 29,
  Complex64 = 30,
  Complex128 = 31,
  QInt8 = 32,
  QUInt8 = 33,
  QInt16 = 34,
  QUInt16 = 35,
  QInt32 = 36,
  String = 37,      ///< Elements are std::string.
  Bytes = 38,       ///< Opaque items of any fixed size; their zero is all zero bytes.
  StringView = 39,  ///< An address and a size, 16 bytes, as in the C interface; the text stays where it is.
};

/// Returns the name in Python and TensorFlow: "float32", "bfloat16", "qint8", ...; "unknown" for an invalid element
/// type.
BACKSLICE_EXPORT std::string_view name(DType dtype);
BACKSLICE_EXPORT std::ostream& operator<<(std::ostream& stream, DType dtype);

/// The dtype of that name, if there is one.
BACKSLICE_EXPORT std::optional<DType> dtype_from_name(std::string_view name);

/// All dtypes, in the order of the enumeration.
BACKSLICE_EXPORT std::span<const DType> all_dtypes();

/// Whether it is one of the enumeration: a number from a file, cast to a DType, need not be. Functions that return a
/// Status or a Result refuse others, InvalidArgument.
BACKSLICE_EXPORT bool is_element_type(DType dtype);

/// Bytes per element; 0 for Bytes, whose size each view carries itself, and for what is not an element type.
BACKSLICE_EXPORT std::int64_t item_size(DType dtype);

/// As an item_size: that of the dtype. DType::Bytes has none, so that there it must be given.
inline constexpr std::int64_t kItemSizeOfDType = -1;

/// Whether two elements can be added: false for bool, quantised types, strings, bytes and invalid element types.
BACKSLICE_EXPORT bool can_add(DType dtype);

/// Whether zero can be represented: false for float8_e8m0fnu and invalid element types.
BACKSLICE_EXPORT bool has_zero(DType dtype);

}  // namespace backslice
