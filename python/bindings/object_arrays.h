// Arrays of Python strings: moved as pointers, with the references counted around the move.
#pragma once

#include <functional>

#include "bindings/arrays.h"

// Object arrays move as bytes: their elements are pointers.
template <>
struct backslice::DTypeOf<PyObject*> : backslice::DTypeConstant<backslice::DType::Bytes> {};

namespace backslice::python {

// Returns the zero of an object array: '' if its elements are str (or there are none), b'' if they are bytes. Raises
// DTypeError for other elements and for a mix.
nb::object empty_string_of(const InputArray& input, const char* argument);

// Returns a new object array of nulls, which count as None. Raises ResourceExhaustedError if NumPy cannot make it.
nb::object empty_object_array(const Shape& shape);

// Returns a new object array from a dense tensor of pointers (null for zero). Precondition: they were read while no
// other code could run.
nb::object new_object_array(Tensor pointers, nb::handle zero);

// Runs `move`, which fills `out` with pointers (null for zero), then gives every element a reference of its own and
// drops the old ones. If `move` fails, nothing has changed.
void move_objects(const View& out, nb::handle zero, const std::function<Status(const View&)>& move);

// Swaps the elements of `out` with those of a dense object array of its shape, including references. Cannot fail.
void exchange_objects(const View& out, nb::handle objects) noexcept;

}  // namespace backslice::python
