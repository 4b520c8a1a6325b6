// NumPy dtypes <-> DType.
#pragma once

#include <nanobind/ndarray.h>

#include <optional>

#include "backslice/dtype.h"
#include "bindings/numpy_api.h"

namespace backslice::python {

namespace nb = nanobind;

// How a NumPy dtype is moved. S, U and non-native byte orders move as opaque items; Python objects move as pointers,
// with their references counted by object_arrays.h.
struct ElementType {
  DType dtype = DType::Bytes;
  std::int64_t item_size = 0;
  bool is_object = false;
};

// Learns the type numbers that ml_dtypes registered. Called once, at import.
void learn_ml_dtypes();

// numpy.dtype(object): what any function of NumPy takes for a dtype, and dtypes of TensorFlow and PyTorch. Raises
// DTypeError for anything else.
nb::object as_numpy_dtype(nb::handle object);

// Raises DTypeError for what cannot be moved; `argument` names the array.
ElementType element_type(nb::handle numpy_dtype, const char* argument);

// The NumPy dtype of a DLPack type. Raises DTypeError where there is none.
nb::object numpy_dtype(nb::dlpack::dtype dtype, const char* argument);

// The DLPack type of such elements; nothing where there is none.
std::optional<nb::dlpack::dtype> dlpack_dtype(DType dtype);

}  // namespace backslice::python
