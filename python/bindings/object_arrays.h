// Arrays of Python strings: moved as pointers, with the references counted around the move.
#pragma once

#include <functional>

#include "bindings/arrays.h"

// Object arrays move as bytes, which are pointers.
template <>
struct backslice::DTypeOf<PyObject*> : backslice::DTypeConstant<backslice::DType::Bytes> {};

namespace backslice::python {

// The zero of an object array: '' where its elements are str (or there are none), b'' where they are bytes.
// Raises DTypeError for anything else, and for a mix.
nb::object empty_string_of(const InputArray& input, const char* argument);

// A new object array of nulls, which count as None. Raises ResourceExhaustedError where NumPy cannot make it.
nb::object empty_object_array(const Shape& shape);

// A new object array from a dense tensor of pointers (null for zero), which were read while nothing else could run.
nb::object new_object_array(Tensor pointers, nb::handle zero);

// Runs `move`, which fills `out` with pointers (null for zero), then gives every element a reference of its own and
// drops the old ones. When `move` fails nothing has changed.
void move_objects(const View& out, nb::handle zero, const std::function<Status(const View&)>& move);

// Exchanges the elements of `out` with those of a dense object array of its shape, references and all. Cannot fail.
void exchange_objects(const View& out, nb::handle objects) noexcept;

}  // namespace backslice::python
