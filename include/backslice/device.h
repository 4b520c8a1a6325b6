/// @file
/// Device: where memory lies. Every view, buffer and allocator has one; the CPU's is the default.
///
///     View dx{data, DType::Float32, layout, Device::cuda(0)};        // data was given by CUDA's device 0
///     Status s = slice_grad_into(selection, dy, dx, {.stream = stream});
///
/// An operation runs where its arguments are. Arguments on different devices are refused, and so is device memory by
/// operations that have no kernel for it.
#pragma once

#include <cstdint>
#include <string>

#include "backslice/export.h"

struct CUstream_st;  // CUDA's: cudaStream_t is a pointer to it

namespace backslice {

/// The same as cudaStream_t and CUstream; null is CUDA's default stream.
using CudaStream = ::CUstream_st*;

enum class DeviceKind : std::int32_t { Cpu, Cuda };

/// A processor with its own memory.
struct Device {
  DeviceKind kind = DeviceKind::Cpu;
  std::int32_t ordinal = 0;  ///< CUDA's number of the device; 0 for the CPU.

  static constexpr Device cpu() { return {}; }
  static constexpr Device cuda(std::int32_t ordinal) { return {DeviceKind::Cuda, ordinal}; }

  constexpr bool is_cpu() const { return kind == DeviceKind::Cpu; }
  friend constexpr bool operator==(const Device&, const Device&) = default;
};

/// "the CPU" or "cuda:0".
BACKSLICE_EXPORT std::string to_string(Device device);

}  // namespace backslice
