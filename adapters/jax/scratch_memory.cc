#include "scratch_memory.h"

#include <algorithm>

#include "core/errors.h"

namespace backslice::jax {

Result<Buffer> ScratchMemory::allocate(std::int64_t bytes, Contents contents) {
  if (bytes < 0) return invalid_argument("bytes is ", bytes, ", must be >= 0");
  if (contents == Contents::Zero) return unimplemented("memory that XLA gives is not zero");
  // XLA refuses to give the alignments that its device allocations have anyway, so this requests more bytes instead.
  const std::size_t size = static_cast<std::size_t>(bytes) + kAlignment;
  const std::optional<void*> data = scratch_.Allocate(size, 1);
  if (!data || *data == nullptr)
    return resource_exhausted("XLA has no ", bytes, " bytes of memory on ", to_string(device_), " for this call");
  auto* const first = static_cast<std::byte*>(*data);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(first) % kAlignment;
  return Buffer::own(first + (past == 0 ? 0 : kAlignment - past), [](std::byte*) {}, device_);
}

}  // namespace backslice::jax
