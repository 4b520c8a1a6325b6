// TensorFlow's numbers of element types, and which of ours each is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backslice/dtype.h"

namespace backslice::tensorflow {

enum DataType : int {
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUInt8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kQInt8 = 11,
  kQUInt8 = 12,
  kQInt32 = 13,
  kBFloat16 = 14,
  kQInt16 = 15,
  kQUInt16 = 16,
  kUInt16 = 17,
  kComplex128 = 18,
  kHalf = 19,
  kUInt32 = 22,
  kUInt64 = 23,
  kFloat8E5M2 = 24,
  kFloat8E4M3FN = 25,
  kFloat8E4M3FNUZ = 26,
  kFloat8E4M3B11FNUZ = 27,
  kFloat8E5M2FNUZ = 28,
  kInt4 = 29,
  kUInt4 = 30,
  kInt2 = 31,
  kUInt2 = 32,
  kFloat4E2M1FN = 33,
};

/// None for resources, variants and numbers that later versions may add. Strings are items of 24 bytes, which
/// strings.h turns into something that can be moved.
std::optional<DType> dtype_of(int data_type);

/// TensorFlow's name of a type that is one of ours.
std::string_view name_of(int data_type);

/// Sets of types, as one byte per type, which is how a KernelDef lists them.
std::string all_types();

/// Those that TensorFlow's own StridedSlice has no CPU kernel for.
std::string types_without_strided_slice();

}  // namespace backslice::tensorflow
