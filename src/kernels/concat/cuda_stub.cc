// What takes the place of concatenation on CUDA devices in a build without them.
#include "core/errors.h"
#include "kernels/concat/cuda.h"

namespace backslice::cuda {

void concat(std::byte*, std::span<const Segment>, DType, const Workspace&, std::span<const Sum>, Write) {
  throw StatusException(unimplemented("backslice was built without CUDA"));
}

}  // namespace backslice::cuda
