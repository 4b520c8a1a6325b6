#include "backslice/tensor.h"

#include <memory>
#include <string>

#include "core/device.h"
#include "core/errors.h"
#include "core/fork.h"
#include "core/items.h"

namespace backslice {
namespace {

Status check_memory(const Buffer& buffer, std::int64_t bytes, Device device) {
  if (buffer.device() != device) {
    return Status(StatusCode::Internal, join("the allocator says that it gives memory on ", to_string(device),
                                             ", but gave a buffer on ", to_string(buffer.device())));
  }
  const auto address = reinterpret_cast<std::uintptr_t>(buffer.data());
  if (bytes > 0 && address == 0) return resource_exhausted("the allocator gave no memory for ", bytes, " bytes");
  if (address % Allocator::kAlignment == 0) return Status();
  return Status(StatusCode::Internal,
                join("the allocator gave memory that is not aligned to ", Allocator::kAlignment, " bytes"));
}

// Constructs elements that are objects, and destroys them before their memory is freed.
Buffer with_objects(Buffer memory, DType dtype, std::int64_t count) {
  const ItemOperations& items = operations_of(dtype);
  items.construct(memory.data(), count);
  std::byte* data = memory.data();
  return Buffer::own(data, [memory = std::move(memory), &items, count](std::byte* p) { items.destroy(p, count); });
}

}  // namespace

Result<Tensor> Tensor::make(DType dtype, Ints shape, std::int64_t item_size, Contents contents, Allocator& allocator) {
  return Shape::make(shape).and_then(
      [&](const Shape& checked) { return make_of_shape(dtype, checked, item_size, contents, allocator); });
}

Result<Tensor> Tensor::zeros(DType dtype, Ints shape, Allocator& allocator) {
  return without_throwing([&]() -> Result<Tensor> {
    if (dtype == DType::Bytes) {
      return dtype_error("dtype bytes needs an item size, which Tensor::make takes (with Contents::Zero)").at("dtype");
    }
    return make(dtype, shape, kItemSizeOfDType, Contents::Zero, allocator);
  });
}

Result<Tensor> Tensor::copy_contiguous(const ConstView& view, Allocator& allocator) {
  return without_throwing([&]() -> Result<Tensor> {
    BACKSLICE_RETURN_IF_ERROR(check_on_cpu(allocator.device(), "allocator"));
    const std::int64_t item_size = view.layout.item_size;
    auto made = make_of_shape(view.dtype, view.shape(), item_size, Contents::Uninitialised, allocator);
    if (made.ok()) operations_of(view.dtype).copy(made->view().data, view.data, view.elements(), item_size);
    return made;
  });
}

Result<Tensor> Tensor::make_of_shape(DType dtype, const Shape& shape, std::int64_t item_size, Contents contents,
                                     Allocator& allocator) {
  return without_throwing([&]() -> Result<Tensor> {
    auto layout = detail::contiguous_layout_of(dtype, shape, item_size);
    if (!layout.ok()) return layout.status();
    const std::int64_t bytes = shape.elements() * layout->item_size;
    const bool objects = !are_bytes(dtype);
    if (objects) BACKSLICE_RETURN_IF_ERROR(check_on_cpu(allocator.device(), "allocator"));
    check_no_lock_is_held();
    auto buffer = calling("the allocator",
                          [&] { return allocator.allocate(bytes, objects ? Contents::Uninitialised : contents); });
    if (!buffer.ok()) return buffer.status();
    BACKSLICE_RETURN_IF_ERROR(check_memory(*buffer, bytes, allocator.device()));
    View view{buffer->data(), dtype, *layout, buffer->device()};
    return Tensor(objects ? with_objects(*std::move(buffer), dtype, shape.elements()) : *std::move(buffer), view);
  });
}

}  // namespace backslice
