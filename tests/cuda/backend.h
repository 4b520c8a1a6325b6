// Backend: a place where operations run, for tests that compare places. Memory goes there, an operation runs, memory
// comes back; every byte of it is compared, those between elements included.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "backslice/cuda.h"
#include "testing.h"

namespace backslice::testing {

// A tensor's memory on a backend, as far from a multiple of 256 as the original is.
struct Uploaded {
  Buffer memory;
  std::byte* first = nullptr;  // where the original's memory begins
  std::int64_t bytes = 0;
  View view;
};

class Backend {
 public:
  Backend(std::string name, Device device) : name_(std::move(name)), device_(device) {
    if (!device.is_cpu()) allocator_ = cuda_allocator(device.ordinal).value();
  }

  const std::string& name() const { return name_; }
  Device device() const { return device_; }
  Allocator& allocator() const { return allocator_ ? *allocator_ : pool_allocator(); }

  Uploaded upload(const std::vector<std::byte>& memory, const View& view) const {
    const auto bytes = static_cast<std::int64_t>(memory.size());
    Uploaded made{allocator().allocate(bytes + 512, Contents::Uninitialised).value(), nullptr, bytes, view};
    const auto at = [](const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p) % 256; };
    made.first = made.memory.data() + (at(memory.data()) + 256 - at(made.memory.data())) % 256;
    copy(made.first, memory.data(), bytes);
    made.view.data = made.first + (view.data - memory.data());
    made.view.device = device_;
    return made;
  }
  Uploaded upload(const RandomTensor& tensor) const { return upload(tensor.memory, tensor.view); }

  std::vector<std::byte> download(const Uploaded& uploaded) const {
    std::vector<std::byte> memory(static_cast<std::size_t>(uploaded.bytes));
    copy(memory.data(), uploaded.first, uploaded.bytes);
    return memory;
  }

  // The elements of a contiguous tensor.
  std::vector<std::byte> download(const ConstView& view) const {
    std::vector<std::byte> memory(static_cast<std::size_t>(view.elements() * view.layout.item_size));
    copy(memory.data(), view.data, std::ssize(memory));
    return memory;
  }

 private:
  void copy(std::byte* to, const std::byte* from, std::int64_t bytes) const {
    if (device_.is_cpu()) {
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
    } else {
      ASSERT_EQ(cudaMemcpy(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault), cudaSuccess);
    }
  }

  std::string name_;
  Device device_;
  std::shared_ptr<Allocator> allocator_;
};

inline const Backend& cpu() {
  static const Backend backend("CPU", Device::cpu());
  return backend;
}

// Device 0. Tests that need it fail where there is none.
inline const Backend& gpu() {
  static const Backend backend("CUDA", Device::cuda(0));
  return backend;
}

}  // namespace backslice::testing
