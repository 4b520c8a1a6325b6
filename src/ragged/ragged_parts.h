// Ragged tensors from parts that are known to fit, without checking or copying them again.
#pragma once

#include "backslice/ragged_tensor.h"

namespace backslice {

class RaggedParts {
 public:
  // Preconditions: the values are dense. The splits lie in the library's own memory, are checked or built, and fit the
  // values and each other.
  static RaggedTensor join(Tensor values, std::vector<Tensor> splits) {
    return RaggedTensor(std::move(values), std::move(splits));
  }
};

}  // namespace backslice
