// Memory of CUDA devices, for code that is compiled with and without CUDA.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "backslice/allocator.h"
#include "backslice/buffer.h"
#include "backslice/device.h"
#include "backslice/status.h"
#include "core/device.h"

namespace backslice::cuda {

// Whether both are one stream: the default stream is null, and also 1, as DLPack numbers it.
inline bool is_same(CudaStream a, CudaStream b) {
  const auto is_default = [](CudaStream stream) { return reinterpret_cast<std::uintptr_t>(stream) <= 1; };
  return a == b || (is_default(a) && is_default(b));
}

// Returns the stream on which to wait, from any thread, for the work queued on a stream. cudaStreamPerThread (2) is
// another stream on each thread; only the default stream waits for those of all threads.
inline CudaStream on_any_thread(CudaStream stream) {
  return reinterpret_cast<std::uintptr_t>(stream) == 2 ? reinterpret_cast<CudaStream>(1) : stream;
}

// Checks that kernels on that device can use the address: InvalidArgument if it is the CPU's or another device's,
// Unimplemented in a build without CUDA.
Status check_memory(const void* data, Device device, std::string_view argument);

// Pages of device memory for which check_memory() has succeeded. CUDA maps device memory in pages of 2 MB or more, and
// a call of the driver takes longer than reading an entry of a list.
class KnownPages {
 public:
  bool has(const void* data) const { return pages_[slot_of(data)] == page_of(data); }
  void add(const void* data) { pages_[slot_of(data)] = page_of(data); }

 private:
  static constexpr std::size_t kSlots = 16;
  static std::uintptr_t page_of(const void* data) { return (reinterpret_cast<std::uintptr_t>(data) >> 21) + 1; }
  static std::size_t slot_of(const void* data) { return page_of(data) % kSlots; }

  std::array<std::uintptr_t, kSlots> pages_{};  // 0: none
};

// See cuda_allocator().
class StreamAllocator final : public Allocator {
 public:
  explicit StreamAllocator(DeviceStream queue) : queue_(queue) {}
  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override;
  Device device() const override { return Device::cuda(queue_.ordinal); }
  bool is_on(CudaStream stream) const { return is_same(queue_.stream, stream); }

 private:
  DeviceStream queue_;
};

// Ends the operation if the stream is being captured into a graph; `why` goes into the message. Waiting for such a
// stream would invalidate the capture, so this is called before anything is queued.
void refuse_capture(const char* why, DeviceStream queue);

// Copy to and from a device, in stream order. They throw a StatusException if CUDA fails.
void copy_to_device(void* dst, const void* src, std::int64_t bytes, DeviceStream queue);

// Waits for the copy, and so for all earlier work: see refuse_capture().
void copy_to_host(void* dst, const void* src, std::int64_t bytes, DeviceStream queue);

void zero(void* dst, std::int64_t bytes, DeviceStream queue);

// Calls cuda_await() for each, but only once per stream.
Status await_all(std::span<const Buffer* const> buffers, CudaStream stream);

// Tables that the CPU makes and a kernel reads. They are passed as arguments of kernels, not copied: a captured graph
// keeps them, and nothing waits for them.
class Tables {
 public:
  // Appends a table and returns its offset.
  template <class T>
  std::int64_t append(const std::vector<T>& table) {
    const auto at = static_cast<std::int64_t>(bytes_.size());
    const auto* first = reinterpret_cast<const std::byte*>(table.data());
    bytes_.insert(bytes_.end(), first, first + table.size() * sizeof(T));
    bytes_.resize((bytes_.size() + 15) / 16 * 16);
    return at;
  }

  // Puts all of them into device memory, in stream order. Throws a StatusException if CUDA fails.
  Buffer upload(Allocator& allocator, DeviceStream queue) const;

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace backslice::cuda
