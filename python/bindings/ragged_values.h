// Values and splits of ragged tensors, between NumPy and the library.
#pragma once

#include <string>
#include <vector>

#include "backslice/ragged_variant.h"
#include "bindings/arrays.h"
#include "bindings/strings.h"

namespace backslice::python {

// The NumPy side of values: their dtype, and which strings they are.
struct ValueType {
  nb::object numpy;
  StringKind strings = StringKind::Unknown;
  bool is_object() const { return reinterpret_cast<PyArray_Descr*>(numpy.ptr())->kind == 'O'; }
};

// From what NumPy takes for a dtype. str and bytes without a width are strings of any length.
ValueType value_type(nb::handle dtype);
ValuesType values_type(const ValueType& type);

Tensor read_values(nb::handle values, const char* argument, ValueType& type);
nb::object values_to_python(const Tensor& values, const ValueType& type);

// A scalar, one list of splits, or a list of lists from the outermost to the innermost.
std::vector<Tensor> read_nested_splits(nb::handle object, const std::string& argument);
nb::object splits_to_python(const Tensor& splits);

}  // namespace backslice::python
