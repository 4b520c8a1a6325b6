// Place: the device and the library of the arrays of a call or a container. All conversions between arrays on CUDA
// devices and tensors are here: results become arrays of the caller's library, in memory from that library.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "backslice/allocator.h"
#include "backslice/tensor.h"
#include "bindings/dtypes.h"

namespace backslice::python {

struct Place {
  Device device;
  nb::object library;  // a Library of backslice/devices.py; not valid on the CPU, and until an array has decided it

  bool is_cpu() const { return device.is_cpu(); }
};

// The library of a container's arrays on a device. If it is not given, the first written array decides it.
class LearnedLibrary {
 public:
  explicit LearnedLibrary(nb::object library) : library_(std::move(library)) {}

  nb::object get() const {
    const nb::ft_lock_guard lock(mutex_);
    return library_;
  }
  // Does nothing if the library is known.
  void learn(const nb::object& library) {
    const nb::ft_lock_guard lock(mutex_);
    if (!library_.is_valid()) library_ = library;
  }

 private:
  mutable nb::ft_mutex mutex_;
  nb::object library_;
};

// Reads a `device` argument. Raises the reason if there is no such device.
Place read_place(nb::handle device);

// Strings are on the CPU only: raises DTypeError for strings and objects on a device.
void check_on_device(nb::handle numpy_dtype, const std::string& argument);

// Returns a tensor of that place as an array of its library, in the same memory. The work queued on `stream` fills it;
// null if it is done. A `loan` lives as long as the array and its memory.
struct Pending {
  CudaStream stream = nullptr;
};
nb::object shared_array(const Tensor& tensor, nb::handle numpy_dtype, const Place& place, Pending pending,
                        std::shared_ptr<void> loan = nullptr);

// Returns memory that an array of another library owns, or `memory` of it.
Buffer owned_buffer(nb::handle array, std::shared_ptr<void> memory, std::byte* data, Device device, CudaStream stream);

// Allocates memory of a library, for the results and the scratch memory of a call. Requests the GIL, and may run any
// Python code: not for calls that hold locks.
class LibraryAllocator final : public Allocator {
 public:
  LibraryAllocator(Place place, CudaStream stream) : place_(std::move(place)), stream_(stream) {}
  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override;
  Device device() const override { return place_.device; }

 private:
  Place place_;
  CudaStream stream_;
};

}  // namespace backslice::python
