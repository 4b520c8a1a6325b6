// DeviceArray: a result on a CUDA device, if the caller's library makes no arrays of its own.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "backslice/tensor.h"
#include "bindings/place.h"

namespace backslice::python {

// Users get it when its work is done. Until then, code that takes it waits for its stream.
class DeviceArray {
 public:
  explicit DeviceArray(Tensor tensor, nb::object numpy_dtype, Pending pending = {},
                       std::shared_ptr<void> loan = nullptr);

  nb::tuple shape() const;
  const nb::object& dtype() const { return dtype_; }
  std::string device() const { return to_string(tensor_.device()); }
  std::string repr() const;

  // Returns a copy on the CPU.
  nb::object to_numpy() const;

  // The protocols of other libraries. `self` is the Python object, which keeps the memory alive.
  static nb::object dlpack(nb::handle self, nb::handle stream, nb::handle max_version, nb::handle dl_device,
                           nb::handle copy);
  nb::tuple dlpack_device() const;
  nb::object cuda_array_interface() const;

  // For backslice/devices.py: the address, the strides in elements, and the number of the device.
  nb::tuple memory() const;
  // Returns the same memory as uint8. Precondition: an element has one byte.
  DeviceArray as_bytes() const;

 private:
  Tensor tensor_;
  nb::object dtype_;
  ElementType type_;
  Pending pending_;
  std::shared_ptr<void> loan_;  // see shared_array()
};

}  // namespace backslice::python
