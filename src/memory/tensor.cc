#include "backslice/tensor.h"

#include <cstdlib>
#include <memory>
#include <string>

#include "memory/block.h"
#include "core/errors.h"
#include "core/faults.h"

namespace backslice {
namespace {

constexpr std::size_t kAlignment = 64;

// From malloc, owned by the result; null where there is no memory.
std::shared_ptr<std::byte> allocate_small(std::int64_t bytes) {
  if (!fits_machine(bytes) || faults::strikes()) return nullptr;
  const std::size_t rounded = (static_cast<std::size_t>(bytes) + kAlignment) / kAlignment * kAlignment;
  return {static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)), [](std::byte* p) { std::free(p); }};
}

// Makes the owner of a block; when there is no memory even for that, the deleter gives the block back.
template <class Release>
std::shared_ptr<std::byte> own(Block block, Release release) {
  return {block.data, [block, release](std::byte*) { release(block); }};
}

}  // namespace

Result<Buffer> Buffer::allocate(std::int64_t bytes) {
  return without_throwing([&]() -> Result<Buffer> {
    if (bytes < 0) return invalid_argument("bytes is ", bytes, ", must be >= 0");
    if (bytes < kPooledBytes) {
      auto small = allocate_small(bytes);
      if (small == nullptr) return no_memory(bytes);
      return Buffer(std::move(small));
    }
    const auto block = acquire_block(bytes);
    if (!block.ok()) return block.status();
    return Buffer(own(*block, release_block));
  });
}

Result<Buffer> Buffer::allocate_zeroed(std::int64_t bytes) {
  return without_throwing([&]() -> Result<Buffer> {
    if (bytes < 0) return invalid_argument("bytes is ", bytes, ", must be >= 0");
    const auto block = map_zeroed(std::max<std::int64_t>(bytes, 1));
    if (!block.ok()) return block.status();
    return Buffer(own(*block, unmap));
  });
}

Result<Buffer> Buffer::allocate_strings(std::int64_t count) {
  return without_throwing([&]() -> Result<Buffer> {
    const auto shape = Shape::make({count}, "count");
    if (!shape.ok()) return shape.status();
    const auto bytes = size_in_bytes(*shape, sizeof(std::string));
    if (!bytes.ok()) return bytes.status();
    auto memory = allocate_small(*bytes);
    if (memory == nullptr) return no_memory(*bytes);
    auto* strings = reinterpret_cast<std::string*>(memory.get());
    std::uninitialized_value_construct_n(strings, count);
    return Buffer(std::shared_ptr<std::byte>(
        memory.get(), [memory, count](std::byte* p) { std::destroy_n(reinterpret_cast<std::string*>(p), count); }));
  });
}

Result<Tensor> Tensor::make(DType dtype, const Shape& shape, std::int64_t item_size, Contents contents) {
  return without_throwing([&]() -> Result<Tensor> {
    auto layout = make_contiguous_layout(dtype, shape, item_size);
    if (!layout.ok()) return layout.status();
    const std::int64_t bytes = shape.elements() * layout->item_size;
    auto buffer = dtype == DType::String       ? Buffer::allocate_strings(shape.elements())
                  : contents == Contents::Zero ? Buffer::allocate_zeroed(bytes)
                                               : Buffer::allocate(bytes);
    if (!buffer.ok()) return buffer.status();
    View view{buffer->data(), dtype, *layout};
    return Tensor(*std::move(buffer), std::move(view));
  });
}

}  // namespace backslice
