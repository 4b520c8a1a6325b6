// Objects of other libraries, known by the names of their classes: none of these libraries is ever imported here.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace backslice::python {

namespace nb = nanobind;

// The library that the object's class comes from: "torch", "tensorflow", "jaxlib". Empty where it does not tell.
std::string library_of(nb::handle object);

// Raises InvalidArgumentError for a tracer of JAX, which stands for an array inside jit, grad or vmap and has no
// values.
void refuse_tracer(nb::handle object, const std::string& argument);

// Whether nobody may write to such an array, though its library hands out its memory: JAX's and TensorFlow's.
bool is_immutable(nb::handle object);

// Whether it is a tensor of PyTorch whose memory holds the conjugates or the negatives of its elements, as that of
// z.conj() and z.conj().imag does; and the same tensor with memory that holds the elements.
bool is_lazy_tensor(nb::handle object);
nb::object resolved_tensor(nb::handle object);

// The extents of a tf.TensorShape, as a list with None where one is unknown, or None where not even the rank is known;
// not valid for other objects.
nb::object find_extents(nb::handle object);

// What numpy.dtype takes instead of a dtype of TensorFlow or PyTorch; not valid for other objects.
nb::object find_numpy_name(nb::handle dtype);

// (flat_values, nested_row_splits) of a tf.RaggedTensor; not valid for other objects.
nb::object find_ragged_parts(nb::handle object);

}  // namespace backslice::python
