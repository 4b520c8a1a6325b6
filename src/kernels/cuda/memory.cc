#include "kernels/cuda/memory.h"

#include <algorithm>

#include "backslice/cuda.h"
#include "core/device.h"
#include "core/errors.h"
#include "core/items.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/runtime.h"
#include "kernels/cuda/stream_release.h"

namespace backslice {
namespace cuda {
namespace {

std::string where_is(const cudaPointerAttributes& memory) {
  if (memory.type == cudaMemoryTypeDevice) return to_string(Device::cuda(memory.device));
  return to_string(Device::cpu());
}

}  // namespace

Status check_memory(const void* data, Device device, std::string_view argument) {
  return without_throwing([&]() -> Status {
    cudaPointerAttributes memory{};
    check(cudaPointerGetAttributes(&memory, data), "cudaPointerGetAttributes", device.ordinal);
    if (memory.type == cudaMemoryTypeManaged) return Status();
    if (memory.type == cudaMemoryTypeDevice && memory.device == device.ordinal) return Status();
    return invalid_argument(argument, " is said to be on ", to_string(device), ", but its memory is on ",
                            where_is(memory))
        .at(argument);
  });
}

Result<Buffer> StreamAllocator::allocate(std::int64_t bytes, Contents contents) {
  return without_throwing([&]() -> Result<Buffer> {
    if (bytes < 0) return invalid_argument("bytes is ", bytes, ", must be >= 0").at("bytes");
    const DeviceGuard guard(queue_.ordinal);
    const RelaxedCapture relaxed;
    StreamRelease::give_back_set_aside();
    const bool is_of_graph = is_captured(queue_.stream);
    void* data = nullptr;
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
    check(cudaMallocAsync(&data, size, queue_.stream), "cudaMallocAsync", queue_.ordinal);
    Buffer buffer = Buffer::own(static_cast<std::byte*>(data), StreamRelease(queue_, is_of_graph), device());
    if (contents == Contents::Zero) zero(data, bytes, queue_);
    return buffer;
  });
}

void copy_to_device(void* dst, const void* src, std::int64_t bytes, DeviceStream queue) {
  const DeviceGuard guard(queue.ordinal);
  check(cudaMemcpyAsync(dst, src, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, queue.stream),
        "cudaMemcpyAsync", queue.ordinal);
}

void copy_to_host(void* dst, const void* src, std::int64_t bytes, DeviceStream queue) {
  const DeviceGuard guard(queue.ordinal);
  check(cudaMemcpyAsync(dst, src, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, queue.stream),
        "cudaMemcpyAsync", queue.ordinal);
  check(cudaStreamSynchronize(queue.stream), "cudaStreamSynchronize", queue.ordinal);
}

void zero(void* dst, std::int64_t bytes, DeviceStream queue) {
  const DeviceGuard guard(queue.ordinal);
  check(cudaMemsetAsync(dst, 0, static_cast<std::size_t>(bytes), queue.stream), "cudaMemsetAsync", queue.ordinal);
}

}  // namespace cuda

using cuda::check;

Result<std::shared_ptr<Allocator>> cuda_allocator(int ordinal, CudaStream stream) {
  return without_throwing([&]() -> Result<std::shared_ptr<Allocator>> {
    const cuda::DeviceGuard guard(ordinal);  // refuses a device that does not exist
    return std::shared_ptr<Allocator>(std::make_shared<cuda::StreamAllocator>(cuda::DeviceStream{ordinal, stream}));
  });
}

namespace {

Status check_copied(const ConstView& view, const char* argument) {
  if (!is_valid(view.layout, view.dtype) || !is_contiguous(view.layout)) {
    return invalid_argument(argument, " must be contiguous").at(argument);
  }
  if (view.device.is_cpu() || view.elements() == 0) return Status();
  return cuda::check_memory(view.data, view.device, argument);
}

}  // namespace

Status cuda_copy(const View& dst, const ConstView& src, CudaStream stream) {
  return without_throwing([&]() -> Status {
    if (dst.dtype != src.dtype || dst.layout.item_size != src.layout.item_size || !(dst.shape() == src.shape())) {
      return invalid_argument("dst and src must have one dtype and shape").at("src");
    }
    if (!are_bytes(dst.dtype)) {
      return dtype_error("elements of dtype ", name(dst.dtype), " cannot be copied").at("dst");
    }
    BACKSLICE_RETURN_IF_ERROR(check_copied(dst, "dst"));
    BACKSLICE_RETURN_IF_ERROR(check_copied(src, "src"));
    const Device device = dst.device.is_cpu() ? src.device : dst.device;
    const cuda::DeviceGuard guard(device.ordinal);
    const auto bytes = static_cast<std::size_t>(dst.elements() * dst.layout.item_size);
    check(cudaMemcpyAsync(dst.data, src.data, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync", device.ordinal);
    return Status();
  });
}

}  // namespace backslice

namespace backslice::cuda {

Buffer Tables::upload(Allocator& allocator, DeviceStream queue) const {
  Buffer memory = throwing::unwrap(calling("the allocator", [&] {
    return allocator.allocate(static_cast<std::int64_t>(bytes_.size()), Contents::Uninitialised);
  }));
  const DeviceGuard guard(queue.ordinal);
  check(upload_pages(bytes_.data(), bytes_.size(), memory.data(), queue.stream), "copy_page", queue.ordinal);
  return memory;
}

}  // namespace backslice::cuda
