// Values and splits of ragged tensors, between NumPy and the library.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "backslice/ragged_variant.h"
#include "bindings/array_argument.h"
#include "bindings/strings.h"

namespace backslice::python {

// The Python side of values: their dtype, the kind of strings, and their place.
struct ValueType {
  nb::object numpy;
  StringKind strings = StringKind::Unknown;
  Place place = {};
  bool is_object() const { return reinterpret_cast<PyArray_Descr*>(numpy.ptr())->kind == 'O'; }
};

// Reads any object that NumPy accepts as a dtype. str and bytes without a width are strings of any length.
ValueType value_type(nb::handle dtype);
ValuesType values_type(const ValueType& type);

// Returns the values as a tensor, and their type. Runs no Python code that could reach another argument's array.
Tensor values_of(const ArrayArgument& values, ValueType& type);
nb::object values_to_python(const Tensor& values, const ValueType& type);

nb::object splits_to_python(const Tensor& splits);

// Reads a scalar, one list of splits, or a list of lists from the outermost to the innermost; resolved first and viewed
// later, as an ArrayArgument is.
class NestedSplits {
 public:
  NestedSplits(nb::handle object, const std::string& argument, CallContext* call = nullptr);
  std::vector<Tensor> tensors() const;

 private:
  std::vector<std::variant<ArrayArgument, Tensor>> lists_;
};

}  // namespace backslice::python
