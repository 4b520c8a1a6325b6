// Backend: a place where operations run, for tests that compare places. Memory is copied there, an operation runs, and
// the memory is copied back. Every byte is compared, including those between elements.
#pragma once

#include <memory>
#include <string>

#include "backslice/cuda.h"
#include "testing.h"

namespace backslice::testing {

// A tensor's memory on a backend, as far from a multiple of 256 as the original is.
struct Uploaded {
  Buffer memory;
  std::byte* first = nullptr;  // beginning of the original memory
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
  Context context() const { return {.allocator = allocator_.get()}; }

  // A copy of a contiguous tensor there, and one of a tensor there on the CPU.
  Tensor upload(const Tensor& tensor) const { return copy_of(tensor, allocator()); }
  Tensor download(const Tensor& tensor) const { return copy_of(tensor, pool_allocator()); }

  Uploaded upload(const std::vector<std::byte>& memory, const View& view) const {
    const auto bytes = static_cast<std::int64_t>(memory.size());
    Uploaded made{allocator().allocate(bytes + 512, Contents::Uninitialised).value(), nullptr, bytes, view};
    const auto at = [](const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p) % 256; };
    made.first = made.memory.data() + (at(memory.data()) + 256 - at(made.memory.data())) % 256;
    copy({made.first, device_}, {memory.data(), Device::cpu()}, bytes);
    made.view.data = made.first + (view.data - memory.data());
    made.view.device = device_;
    return made;
  }
  Uploaded upload(const RandomTensor& tensor) const { return upload(tensor.memory, tensor.view); }

  std::vector<std::byte> download(const Uploaded& uploaded) const {
    std::vector<std::byte> memory(static_cast<std::size_t>(uploaded.bytes));
    copy({memory.data(), Device::cpu()}, {uploaded.first, device_}, uploaded.bytes);
    return memory;
  }

  // The elements of a contiguous tensor.
  std::vector<std::byte> download(const ConstView& view) const {
    std::vector<std::byte> memory(static_cast<std::size_t>(view.elements() * view.layout.item_size));
    copy({memory.data(), Device::cpu()}, {view.data, device_}, std::ssize(memory));
    return memory;
  }

 private:
  static Tensor copy_of(const Tensor& tensor, Allocator& allocator) {
    const ConstView from = tensor.view();
    Tensor made =
        Tensor::make(from.dtype, from.shape(), from.layout.item_size, Contents::Uninitialised, allocator).value();
    copy({made.view().data, made.device()}, {from.data, from.device}, from.elements() * from.layout.item_size);
    return made;
  }

  template <class Byte>
  struct Place {
    Byte* data;
    Device device;
  };

  // Done when it returns.
  static void copy(Place<std::byte> to, Place<const std::byte> from, std::int64_t bytes) {
    if (bytes == 0) return;
    if (to.device.is_cpu() && from.device.is_cpu()) {
      std::memcpy(to.data, from.data, static_cast<std::size_t>(bytes));
      return;
    }
    const View target = View::contiguous(to.data, DType::UInt8, {bytes}, 0, to.device).value();
    const ConstView source = ConstView::contiguous(from.data, DType::UInt8, {bytes}, 0, from.device).value();
    const Status copied = cuda_copy(target, source);
    ASSERT_TRUE(copied.ok()) << copied;
    const Status done = cuda_synchronize(to.device.is_cpu() ? from.device.ordinal : to.device.ordinal);
    ASSERT_TRUE(done.ok()) << done;
  }

  std::string name_;
  Device device_;
  std::shared_ptr<Allocator> allocator_;
};

inline const Backend& cpu() {
  static const Backend backend("CPU", Device::cpu());
  return backend;
}

// Device 0. Tests that need it fail if there is no device.
inline const Backend& gpu() {
  static const Backend backend("CUDA", Device::cuda(0));
  return backend;
}

// The place where suites run that are part of two programs: each program defines it (on_cpu.cc, cuda/on_cuda.cc).
const Backend& backend_under_test();

}  // namespace backslice::testing
