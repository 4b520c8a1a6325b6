#include "given_memory.h"

#include "core/errors.h"

namespace backslice::jax {
namespace {

// Returns the distance from `at` to the next aligned address.
std::int64_t to_alignment(const std::byte* at) {
  const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at) % Allocator::kAlignment);
  return past == 0 ? 0 : Allocator::kAlignment - past;
}

}  // namespace

Result<Buffer> GivenMemory::allocate(std::int64_t bytes, Contents contents) {
  if (bytes < 0) return invalid_argument("bytes is ", bytes, ", must be >= 0");
  if (contents == Contents::Zero) return unimplemented("memory that XLA gives is not zero");
  const std::int64_t begin = used_ + to_alignment(data_ + used_);
  if (begin > bytes_ || bytes > bytes_ - begin)
    return resource_exhausted("the call needs ", bytes, " bytes of memory for itself, but has ",
                              begin > bytes_ ? 0 : bytes_ - begin, ": the program was made by another version");
  used_ = begin + bytes;
  ++given_;
  return Buffer::own(data_ + begin, [this](std::byte*) { release(); }, device_);
}

void GivenMemory::release() {
  if (--given_ == 0) used_ = 0;
}

}  // namespace backslice::jax
