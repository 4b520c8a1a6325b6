#include "backslice/tensor.h"

#include <cstdlib>
#include <memory>
#include <string>

#include "core/errors.h"

namespace backslice {
namespace {

constexpr std::size_t kAlignment = 64;

Result<std::byte*> allocate_bytes(std::int64_t bytes) {
  const std::size_t rounded = (static_cast<std::size_t>(bytes) + kAlignment) / kAlignment * kAlignment;
  void* block = std::aligned_alloc(kAlignment, rounded);
  if (block == nullptr) return resource_exhausted("could not allocate ", bytes, " bytes");
  return static_cast<std::byte*>(block);
}

}  // namespace

Result<Buffer> Buffer::allocate(std::int64_t bytes) {
  const auto block = allocate_bytes(bytes);
  if (!block.ok()) return block.status();
  return without_throwing([&]() -> Result<Buffer> {
    return Buffer(std::shared_ptr<std::byte>(*block, [](std::byte* p) { std::free(p); }));
  });
}

Result<Buffer> Buffer::allocate_strings(std::int64_t count) {
  const auto bytes = size_in_bytes(*Shape::make({count}), sizeof(std::string));
  if (!bytes.ok()) return bytes.status();
  const auto block = allocate_bytes(*bytes);
  if (!block.ok()) return block.status();
  std::uninitialized_value_construct_n(reinterpret_cast<std::string*>(*block), count);
  return without_throwing([&]() -> Result<Buffer> {
    return Buffer(std::shared_ptr<std::byte>(*block, [count](std::byte* p) {
      std::destroy_n(reinterpret_cast<std::string*>(p), count);
      std::free(p);
    }));
  });
}

Result<Tensor> Tensor::make(DType dtype, const Shape& shape, std::int64_t item_size) {
  auto layout = make_contiguous_layout(dtype, shape, item_size);
  if (!layout.ok()) return layout.status();
  auto buffer = dtype == DType::String ? Buffer::allocate_strings(shape.elements())
                                       : Buffer::allocate(shape.elements() * layout->item_size);
  if (!buffer.ok()) return buffer.status();
  View view{buffer->data(), dtype, *layout};
  return Tensor(*std::move(buffer), std::move(view));
}

}  // namespace backslice
