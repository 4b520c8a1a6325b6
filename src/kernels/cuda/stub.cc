// Replaces everything of CUDA in a build without it.
#include "backslice/cuda.h"
#include "core/errors.h"
#include "kernels/concat/kernel.h"
#include "kernels/cuda/memory.h"
#include "kernels/slice/kernel.h"
#include "kernels/sparse/kernel.h"
#include "kernels/tiles/kernel.h"

namespace backslice {
namespace {

Status no_cuda() {
  return without_throwing([] { return unimplemented("backslice was built without CUDA"); });
}

[[noreturn]] void refuse() { throw StatusException(no_cuda()); }

}  // namespace

namespace cuda {

Status check_memory(const void*, Device, std::string_view) { return no_cuda(); }
Result<Buffer> StreamAllocator::allocate(std::int64_t, Contents) { return no_cuda(); }
void refuse_capture(const char*, DeviceStream) { refuse(); }
void copy_to_device(void*, const void*, std::int64_t, DeviceStream) { refuse(); }
void copy_to_host(void*, const void*, std::int64_t, DeviceStream) { refuse(); }
void zero(void*, std::int64_t, DeviceStream) { refuse(); }
void fill(const Plan&, std::byte*, const std::byte*, DeviceStream) { refuse(); }
void add(const Plan&, DType, std::byte*, const std::byte*, DeviceStream) { refuse(); }
Status await_all(std::span<const Buffer* const>, CudaStream) { return Status(); }
void fill_tiles(const CommonAxes&, DType, std::int64_t, Overlap, bool, std::byte*, const KernelContext&) { refuse(); }

void concat(std::byte*, std::span<const Segment>, DType, const KernelContext&, std::span<const Sum>, Write) {
  refuse();
}

DeviceFound::DeviceFound(std::int64_t rows, std::int64_t slice_rows, const KernelContext&)
    : rows_(rows), slice_rows_(slice_rows) {
  refuse();
}
DeviceFound DeviceFound::in_order(const CooIndices&, Ints, const CooIndices&, const KernelContext&, DeviceStatus*) {
  refuse();
}
DeviceFound DeviceFound::in_any_order(const CooIndices&, Ints, const CooIndices&, const KernelContext&, DeviceStatus*) {
  refuse();
}
DeviceFound DeviceFound::in_window(const CooIndices&, Ints, Ints, std::int64_t, const KernelContext&, DeviceStatus*) {
  refuse();
}
DeviceStatus DeviceFound::outcome(DeviceStream) const { refuse(); }
void DeviceFound::write_gradient(const ConstView&, const View&, Write, DeviceStream) const { refuse(); }
void DeviceFound::write_slice(const CooIndices&, Ints, const ConstView&, const View&, const View&, DeviceStream) const {
  refuse();
}

}  // namespace cuda

Result<std::vector<CudaDevice>> cuda_devices() { return no_cuda(); }
Result<CudaVersions> cuda_versions() { return no_cuda(); }
Result<std::shared_ptr<Allocator>> cuda_allocator(int, CudaStream) { return no_cuda(); }
Buffer cuda_wrap(std::shared_ptr<void> owner, std::byte* data, int ordinal, CudaStream) {
  return Buffer::own(data, [owner = std::move(owner)](std::byte*) {}, Device::cuda(ordinal));
}
std::shared_ptr<void> cuda_owner(const Buffer&) { return nullptr; }
Status cuda_keep(const Buffer&, CudaStream) { return Status(); }  // no queued work could use it
Status cuda_await(const Buffer&, CudaStream) { return Status(); }
Status cuda_copy(const View&, const ConstView&, CudaStream) { return no_cuda(); }
Result<Device> cuda_device_of(const void*) { return no_cuda(); }
Status cuda_wait(int, CudaStream, CudaStream) { return no_cuda(); }
Status cuda_synchronize(int, CudaStream) { return no_cuda(); }

}  // namespace backslice
