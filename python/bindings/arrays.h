// Arrays as arguments and results.
#pragma once

#include "backslice/tensor.h"
#include "bindings/dtypes.h"

namespace backslice::python {

// An array argument, viewed in place: a NumPy array, anything with __dlpack__ on the CPU, or what np.asarray takes.
struct InputArray {
  nb::object owner;                  // keeps the memory alive: a NumPy array,
  nb::ndarray<nb::ro> dlpack_owner;  // or another library's
  nb::object numpy_dtype;            // what the result will have
  ElementType type;
  ConstView view;
};

InputArray input_array(nb::handle object, const char* argument);

// An `out` argument: a writable NumPy array of exactly the input's dtype.
View output_view(nb::handle out, const InputArray& input, const char* input_argument);

// The tensor as a NumPy array that owns it.
nb::object to_numpy(Tensor tensor, nb::handle numpy_dtype);

}  // namespace backslice::python
