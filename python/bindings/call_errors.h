// The TypeErrors of calls whose arguments do not fit the signature, in the words of Python's own functions.
#pragma once

#include <Python.h>

#include "bindings/bound_arguments.h"

namespace backslice::python {

// Each sets the error; none throws.

// "slice_grad() takes from 3 to 5 positional arguments but 6 were given"
void set_too_many_arguments(const Signature& signature, const CallArguments& given) noexcept;

// "slice_grad() missing 2 required positional arguments: 'shape' and 'index'". Null stands for what was not given.
void set_missing_arguments(const Signature& signature, PyObject* const* values) noexcept;

// "slice_grad() got multiple values for argument 'dy'"
void set_argument_given_twice(const Signature& signature, std::size_t parameter) noexcept;

// "slice_grad() got an unexpected keyword argument 'acumulate'; did you mean 'accumulate'?"
void set_unexpected_keyword(const Signature& signature, PyObject* keyword) noexcept;

// "PreparedSlice has no constructor; use Selection.prepare"
void set_no_constructor(const Signature& signature) noexcept;

// "GradBuffer.write(): this GradBuffer was never initialised; its __init__() was not called"
void set_never_initialised(const Signature& signature) noexcept;

// "GradBuffer.__init__(): this GradBuffer is already initialised"
void set_already_initialised(const Signature& signature) noexcept;

}  // namespace backslice::python
