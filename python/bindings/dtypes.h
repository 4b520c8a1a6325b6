// NumPy dtypes <-> DType.
#pragma once

#include <nanobind/ndarray.h>

#include <optional>

#include "backslice/dtype.h"
#include "bindings/numpy_api.h"

namespace backslice::python {

namespace nb = nanobind;

// How elements of a NumPy dtype are moved. S, U and non-native byte orders move as opaque items; Python objects move as
// pointers, with their references counted by object_arrays.h.
struct ElementType {
  DType dtype = DType::Bytes;
  std::int64_t item_size = 0;
  bool is_object = false;
};

// Registers the type numbers of ml_dtypes. Called once, at import.
void learn_ml_dtypes();

// Returns numpy.dtype(object). Accepts everything that NumPy's functions accept as a dtype, and dtypes of TensorFlow
// and PyTorch. Raises DTypeError for anything else.
nb::object as_numpy_dtype(nb::handle object);

// Raises DTypeError for dtypes that cannot be moved; `argument` names the array.
ElementType element_type(nb::handle numpy_dtype, const char* argument);

// Returns the NumPy dtype of a DLPack type. Raises DTypeError if there is none.
nb::object numpy_dtype(nb::dlpack::dtype dtype, const char* argument);

// Returns the DLPack type of such elements; nullopt if there is none.
std::optional<nb::dlpack::dtype> dlpack_dtype(DType dtype);

}  // namespace backslice::python
