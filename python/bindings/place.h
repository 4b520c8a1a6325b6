// Place: where the arrays of a call or of a container are, and whose they are. The one way between arrays on CUDA
// devices and tensors: what is made becomes an array of the caller's library here, and the memory of results is taken
// from it.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "backslice/allocator.h"
#include "backslice/tensor.h"
#include "bindings/dtypes.h"

namespace backslice::python {

struct Place {
  Device device;
  nb::object library;  // a Library of backslice/devices.py; not valid on the CPU, and as long as no array has told it

  bool is_cpu() const { return device.is_cpu(); }
};

// The library of a container's arrays on a device. Where nothing tells it before, the first array that is written does.
class LearnedLibrary {
 public:
  explicit LearnedLibrary(nb::object library) : library_(std::move(library)) {}

  nb::object get() const {
    const nb::ft_lock_guard lock(mutex_);
    return library_;
  }
  // Does nothing where the library is known.
  void learn(const nb::object& library) {
    const nb::ft_lock_guard lock(mutex_);
    if (!library_.is_valid()) library_ = library;
  }

 private:
  mutable nb::ft_mutex mutex_;
  nb::object library_;
};

// A `device` argument. Raises what says why where there is no such device.
Place read_place(nb::handle device);

// Strings are on the CPU alone: DTypeError for those, and for objects, on a device.
void check_on_device(nb::handle numpy_dtype, const std::string& argument);

// A tensor of that place as an array of its library, in the same memory. What was queued on `stream` to fill it is
// still to be waited for; null where it is done. A `loan` lives until nobody has that array or its memory.
struct Pending {
  CudaStream stream = nullptr;
};
nb::object shared_array(const Tensor& tensor, nb::handle numpy_dtype, const Place& place, Pending pending,
                        std::shared_ptr<void> loan = nullptr);

// Memory that an array of another library, or `memory` of it, owns.
Buffer owned_buffer(nb::handle array, std::shared_ptr<void> memory, std::byte* data, Device device, CudaStream stream);

// Memory of a library, for the results of a call and for what it needs meanwhile. Asks for the GIL, and may run any
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
