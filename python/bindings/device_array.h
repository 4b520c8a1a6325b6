// DeviceArray: a result on a CUDA device, where the caller's library is not one that makes its own.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "backslice/tensor.h"
#include "bindings/place.h"

namespace backslice::python {

// What was queued to fill it is done when users see it. Until then, whoever takes it waits for its stream.
class DeviceArray {
 public:
  explicit DeviceArray(Tensor tensor, nb::object numpy_dtype, Pending pending = {},
                       std::shared_ptr<void> loan = nullptr);

  nb::tuple shape() const;
  const nb::object& dtype() const { return dtype_; }
  std::string device() const { return to_string(tensor_.device()); }
  std::string repr() const;

  // A copy on the CPU.
  nb::object to_numpy() const;

  // The protocols of other libraries. `self` is the Python object, which the memory keeps alive.
  static nb::object dlpack(nb::handle self, nb::handle stream, nb::handle max_version, nb::handle dl_device,
                           nb::handle copy);
  nb::tuple dlpack_device() const;
  nb::object cuda_array_interface() const;

  // For backslice/devices.py: the address, the strides in elements, and the number of the device.
  nb::tuple memory() const;
  // The same memory as uint8. Precondition: an element has one byte.
  DeviceArray as_bytes() const;

 private:
  Tensor tensor_;
  nb::object dtype_;
  ElementType type_;
  Pending pending_;
  std::shared_ptr<void> loan_;  // see shared_array()
};

}  // namespace backslice::python
