// Maps TensorFlow's numbers of element types to ours.
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

/// Returns TensorFlow's name of one of our types.
std::string_view name_of(int data_type);

/// Sets of types, as one byte per type, which is how a KernelDef lists them. Strings are among them if strings.h can
/// read them.
std::string all_types();

/// The types for which TensorFlow's own StridedSlice has no CPU kernel.
std::string types_without_strided_slice();

}  // namespace backslice::tensorflow
