#include "kernels/cuda/runtime.h"

#include "backslice/cuda.h"
#include "core/errors.h"

namespace backslice::cuda {
namespace {

// Errors after which the process cannot use the device any more.
bool is_sticky(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContextIsDestroyed: return true;
    default: return false;
  }
}

StatusCode code_of(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorMemoryAllocation: return StatusCode::ResourceExhausted;
    case cudaErrorInvalidValue:
    case cudaErrorInvalidDevice:
    case cudaErrorInvalidResourceHandle: return StatusCode::InvalidArgument;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:
    case cudaErrorDevicesUnavailable:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidKernelImage:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound:
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorStreamCaptureImplicit: return StatusCode::FailedPrecondition;
    default: return StatusCode::Internal;
  }
}

// CUDA has one error for a missing driver and for one that is too old.
std::string advice_on_driver() {
  int version = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0) return "; no driver was found";
  return join("; a newer driver is needed: this one is for CUDA ", version / 1000, ".", version % 1000 / 10);
}

// Adds what CUDA's own text leaves out.
std::string advice_on(cudaError_t error) {
  if (is_sticky(error)) return "; the error is sticky: nothing in this process can use the device any more";
  switch (error) {
    case cudaErrorInsufficientDriver: return advice_on_driver();
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidKernelImage:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound: return "; backslice was compiled for other devices";
    case cudaErrorInvalidConfiguration: return "; the arguments have more elements than one kernel can go through";
    case cudaErrorInvalidResourceHandle: return "; was the stream destroyed, or is it another device's?";
    default: return "";
  }
}

}  // namespace

Status error_of(cudaError_t error, const char* call, int ordinal) {
  return Status(code_of(error), join(call, " failed on cuda:", ordinal, ": ", cudaGetErrorString(error), " (",
                                     cudaGetErrorName(error), ")", advice_on(error)));
}

void refuse_capture(const char* why, DeviceStream queue) {
  const DeviceGuard guard(queue.ordinal);  // null is its default stream
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(queue.stream, &capturing), "cudaStreamIsCapturing", queue.ordinal);
  if (capturing == cudaStreamCaptureStatusNone) return;
  throw StatusException(
      Status(StatusCode::FailedPrecondition, join("the stream is being captured into a graph, but ", why)));
}

}  // namespace backslice::cuda

namespace backslice {

using cuda::check;

Result<std::vector<CudaDevice>> cuda_devices() {
  return without_throwing([&]() -> Result<std::vector<CudaDevice>> {
    int count = 0;
    check(cudaGetDeviceCount(&count), "cudaGetDeviceCount", 0);
    std::vector<CudaDevice> devices;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      cudaDeviceProp properties{};
      check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties", ordinal);
      devices.push_back({ordinal, properties.name, properties.major, properties.minor,
                         static_cast<std::int64_t>(properties.totalGlobalMem), properties.multiProcessorCount});
    }
    return devices;
  });
}

Result<CudaVersions> cuda_versions() {
  return without_throwing([&]() -> Result<CudaVersions> {
    CudaVersions versions;
    check(cudaDriverGetVersion(&versions.driver), "cudaDriverGetVersion", 0);
    check(cudaRuntimeGetVersion(&versions.runtime), "cudaRuntimeGetVersion", 0);
    return versions;
  });
}

Result<Device> cuda_device_of(const void* data) {
  return without_throwing([&]() -> Result<Device> {
    cudaPointerAttributes memory{};
    check(cudaPointerGetAttributes(&memory, data), "cudaPointerGetAttributes", 0);
    if (memory.type != cudaMemoryTypeDevice && memory.type != cudaMemoryTypeManaged) {
      return invalid_argument("the address is no CUDA device's").at("data");
    }
    return Device::cuda(memory.device);
  });
}

Status cuda_wait(int ordinal, CudaStream waiting, CudaStream awaited) {
  return without_throwing([&]() -> Status {
    if (waiting == awaited) return Status();
    const cuda::DeviceGuard guard(ordinal);
    cudaEvent_t reached = nullptr;
    check(cudaEventCreateWithFlags(&reached, cudaEventDisableTiming), "cudaEventCreateWithFlags", ordinal);
    cudaError_t error = cudaEventRecord(reached, awaited);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(waiting, reached, 0);
    (void)cudaEventDestroy(reached);  // destroyed once it was reached
    check(error, "cudaStreamWaitEvent", ordinal);
    return Status();
  });
}

Status cuda_synchronize(int ordinal, CudaStream stream) {
  return without_throwing([&]() -> Status {
    const cuda::DeviceGuard guard(ordinal);
    cuda::refuse_capture("this call waits for it", {ordinal, stream});
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", ordinal);
    return Status();
  });
}

}  // namespace backslice
