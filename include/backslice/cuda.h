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

/// The properties of one device.
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

/// Returns the devices. FailedPrecondition with the driver's reason if there are none.
BACKSLICE_EXPORT Result<std::vector<CudaDevice>> cuda_devices();

BACKSLICE_EXPORT Result<CudaVersions> cuda_versions();

/// Makes an allocator of device memory by cudaMallocAsync, in the order of a stream: work that is queued on that stream
/// afterwards may use the memory, and it is freed after the work queued before its release. The stream must outlive its
/// buffers.
BACKSLICE_EXPORT Result<std::shared_ptr<Allocator>> cuda_allocator(int ordinal, CudaStream stream = nullptr);

/// Memory of a device that `owner` keeps alive, and that its own library reuses in the order of a stream.
BACKSLICE_EXPORT Buffer cuda_wrap(std::shared_ptr<void> owner, std::byte* data, int ordinal,
                                  CudaStream stream = nullptr);

/// The owner that cuda_wrap() was given; null for other buffers.
BACKSLICE_EXPORT std::shared_ptr<void> cuda_owner(const Buffer& buffer);

/// Keeps memory of cuda_allocator() or cuda_wrap() for the work queued on `stream` by now, whichever stream frees it.
/// Containers call it for their elements, since they may release an element while another stream still reads it. Does
/// nothing for other buffers, and while the stream is captured: the owner keeps the memory of a graph.
BACKSLICE_EXPORT Status cuda_keep(const Buffer& buffer, CudaStream stream);

/// Makes later work on `stream` wait for all known uses of memory of cuda_allocator() or cuda_wrap(): the work queued
/// by now on its own stream, and the work that it is kept for. Containers call it before they use their elements, so
/// that their operations happen in the order of the calls, on any streams. Does nothing for other buffers, and while
/// one of the streams is captured.
BACKSLICE_EXPORT Status cuda_await(const Buffer& buffer, CudaStream stream);

/// dst = src, both contiguous, of one dtype and shape; each on the CPU or a CUDA device. Queued on the stream; where
/// one of them is pageable memory of the CPU, it may wait for the copy.
BACKSLICE_EXPORT Status cuda_copy(const View& dst, const ConstView& src, CudaStream stream = nullptr);

/// Returns the device of an address; InvalidArgument if it is not device memory.
BACKSLICE_EXPORT Result<Device> cuda_device_of(const void* data);

/// Makes later work on `waiting` start after the work queued on `awaited` by now. The CPU does not wait.
BACKSLICE_EXPORT Status cuda_wait(int ordinal, CudaStream waiting, CudaStream awaited);

/// Waits until everything queued on the stream has run, and returns the error that any of it met.
BACKSLICE_EXPORT Status cuda_synchronize(int ordinal, CudaStream stream = nullptr);

}  // namespace backslice
