// TensorFlow's numbers of element types, and which of ours each is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backslice/dtype.h"

namespace backslice::tensorflow {

/// The numbers that the adapter names.
enum DataType : int { kInt32 = 3, kString = 7, kInt64 = 9 };

/// Returns nullopt for resources, variants and numbers that later versions may add. Strings are items of 24 bytes;
/// strings.h converts them.
std::optional<DType> dtype_of(int data_type);

/// TensorFlow's name of a type that is one of ours.
std::string_view name_of(int data_type);

/// Sets of types, as one byte per type, which is how a KernelDef lists them. Strings are among them if strings.h can
/// read them.
std::string all_types();

/// The types that TensorFlow's own StridedSlice has no CPU kernel for.
std::string types_without_strided_slice();

}  // namespace backslice::tensorflow
