/// @file
/// CUDA: which devices there are, their memory, and copies from and to it.
///
///     Result<std::vector<CudaDevice>> devices = cuda_devices();         // or why there are none
///     Result<std::shared_ptr<Allocator>> memory = cuda_allocator(0, stream);
///     Result<Tensor> dy = Tensor::make(DType::Float32, {2, 3}, 0, Contents::Uninitialised, **memory);
///     Status copied = cuda_copy(dy->view(), host, stream);              // queued; the memory of both must live on
///
/// Everything here is part of every build. In one without CUDA, what needs a device returns Unimplemented.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backslice/allocator.h"
#include "backslice/view.h"

namespace backslice {

/// What is known of one device.
struct CudaDevice {
  int ordinal = 0;
  std::string name;
  int major = 0, minor = 0;  ///< The compute capability.
  std::int64_t bytes = 0;    ///< Of memory.
  int multiprocessors = 0;
};

/// The versions of the driver, as 13000 for 13.0, and of the CUDA runtime that is part of backslice.
struct CudaVersions {
  int driver = 0, runtime = 0;
};

/// The devices. FailedPrecondition with the driver's reason where there are none.
BACKSLICE_EXPORT Result<std::vector<CudaDevice>> cuda_devices();

BACKSLICE_EXPORT Result<CudaVersions> cuda_versions();

/// Memory of a device, by cudaMallocAsync, in the order of a stream: it may be used by what is queued on that stream
/// afterwards, and is given back behind what was queued before its release. The stream must outlive its buffers.
BACKSLICE_EXPORT Result<std::shared_ptr<Allocator>> cuda_allocator(int ordinal, CudaStream stream = nullptr);

/// Memory of a device that `owner` keeps alive, and that its own library reuses in the order of a stream.
BACKSLICE_EXPORT Buffer cuda_wrap(std::shared_ptr<void> owner, std::byte* data, int ordinal,
                                  CudaStream stream = nullptr);

/// The owner that cuda_wrap() was given; null for other buffers.
BACKSLICE_EXPORT std::shared_ptr<void> cuda_owner(const Buffer& buffer);

/// Memory of cuda_allocator() or cuda_wrap() is given back behind what is queued on `stream` by now, too, whichever
/// stream it is given back on. Containers call it for what they hold: they may let go of it while another stream still
/// reads it. Does nothing for other buffers, and while the stream is captured: what a graph uses is kept by its owner.
BACKSLICE_EXPORT Status cuda_keep(const Buffer& buffer, CudaStream stream);

/// What is queued on `stream` from now on comes after what is known to use memory of cuda_allocator() or cuda_wrap():
/// what its own stream has queued by now, and what it is kept for. Containers call it before they use what they hold,
/// so that their operations happen in the order they are called, whichever streams they are on. Does nothing for other
/// buffers, and while one of the streams is captured.
BACKSLICE_EXPORT Status cuda_await(const Buffer& buffer, CudaStream stream);

/// dst = src, both contiguous, of one dtype and shape; each on the CPU or a CUDA device. Queued on the stream; where
/// one of them is pageable memory of the CPU, it may wait for the copy.
BACKSLICE_EXPORT Status cuda_copy(const View& dst, const ConstView& src, CudaStream stream = nullptr);

/// The device of an address; InvalidArgument where it is no device's.
BACKSLICE_EXPORT Result<Device> cuda_device_of(const void* data);

/// What is queued on `waiting` from now on starts after what is queued on `awaited` by now. The CPU does not wait.
BACKSLICE_EXPORT Status cuda_wait(int ordinal, CudaStream waiting, CudaStream awaited);

/// Waits until everything queued on the stream has run, and returns the error that any of it met.
BACKSLICE_EXPORT Status cuda_synchronize(int ordinal, CudaStream stream = nullptr);

}  // namespace backslice
