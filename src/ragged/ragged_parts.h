// Ragged tensors and arrays of variants from parts that are known to fit, without checking or copying them again.
#pragma once

#include "backslice/ragged_tensor.h"
#include "backslice/variant_array.h"

namespace backslice {

class RaggedParts {
 public:
  // Preconditions: the values are dense. The splits lie in the library's own memory, are checked or built, and fit the
  // values and each other.
  static RaggedTensor join(Tensor values, std::vector<Tensor> splits) {
    return RaggedTensor(std::move(values), std::move(splits));
  }
};

class VariantParts {
 public:
  // Precondition: the shape has as many elements.
  static VariantArray reshaped(const VariantArray& array, const Shape& shape) { return array.reshaped(shape); }
};

}  // namespace backslice
