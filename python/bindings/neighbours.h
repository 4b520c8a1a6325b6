// Objects of other libraries, recognized by the names of their classes: this module never imports these libraries.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace backslice::python {

namespace nb = nanobind;

// Returns the library that defines the object's class: "torch", "tensorflow", "jaxlib". Empty if it is unknown.
std::string library_of(nb::handle object);

// Raises InvalidArgumentError for a tracer of JAX, which stands for an array inside jit, grad or vmap and has no
// values.
void refuse_tracer(nb::handle object, const std::string& argument);

// Returns whether the arrays are immutable, although their library exports their memory: JAX's and TensorFlow's.
bool is_immutable(nb::handle object);

// The first returns whether it is a PyTorch tensor whose memory holds the conjugates or the negatives of its elements,
// such as z.conj() and z.conj().imag. The second returns the same tensor with its elements in memory.
bool is_lazy_tensor(nb::handle object);
nb::object resolved_tensor(nb::handle object);

// Returns the extents of a tf.TensorShape: a list with None for unknown extents, or None if the rank is unknown. Not
// valid for other objects.
nb::object find_extents(nb::handle object);

// Returns the dtype that numpy.dtype accepts for a dtype of TensorFlow or PyTorch; not valid for other objects.
nb::object find_numpy_name(nb::handle dtype);

// Returns (flat_values, nested_row_splits) of a tf.RaggedTensor; not valid for other objects.
nb::object find_ragged_parts(nb::handle object);

}  // namespace backslice::python
