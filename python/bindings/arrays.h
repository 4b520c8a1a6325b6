// Arrays as arguments and results.
#pragma once

#include <memory>

#include "backslice/slice.h"
#include "bindings/dtypes.h"

namespace backslice::python {

class CallContext;

// The place of an array on a CUDA device, which the result will share; empty on the CPU.
struct OnDevice {
  nb::object array;             // as the caller gave it
  CallContext* call = nullptr;  // the call that it was given to
};

// An array argument (array_argument.h), viewed in place.
struct InputArray {
  InputArray(nb::object array, std::shared_ptr<void> foreign, nb::object dtype, const ElementType& element_type,
             const ConstView& where, OnDevice device = {})
      : owner(std::move(array)),
        dlpack_owner(std::move(foreign)),
        numpy_dtype(std::move(dtype)),
        type(element_type),
        view(where),
        on_device(std::move(device)) {}

  nb::object owner;                    // keeps the memory alive: a NumPy array,
  std::shared_ptr<void> dlpack_owner;  // or another library's
  nb::object numpy_dtype;              // what the result will have
  ElementType type;
  ConstView view;
  OnDevice on_device;
};

// Returns whether the elements of two NumPy dtypes are the same.
bool same_dtype(nb::handle a, nb::handle b);

// Returns a view of a NumPy array as it is now; `type` is its element type.
View view_of_numpy(PyArrayObject* array, const ElementType& type);

// Returns whether an array's memory is another array's.
bool is_view(nb::handle array);

// Returns an object that keeps NumPy from resizing the array, even with refcheck=False. Needed if other Python code may
// run while the library uses the memory: another thread, or a signal handler.
nb::object keep_from_resizing(nb::handle array);
nb::object keep_from_resizing(const InputArray& array);  // not valid for other libraries' arrays

// Whether a result of that shape is so small that NumPy's memory and this thread are best.
bool is_small(const Shape& result_shape, const InputArray& input);

// Returns an uninitialised array of the input's dtype in NumPy's own memory, and a view of it. Precondition: is_small.
nb::object new_small_array(const Shape& shape, const InputArray& input, View& view);

// Returns a copy of an argument as a tensor.
Tensor copied_tensor(const InputArray& input, const Context& context);

// An owner of an array's memory. An operation that gives memory away, and cannot take it back, makes the owner first,
// since there may be no memory for it afterwards.
using ArrayOwner = std::unique_ptr<Buffer>;
inline ArrayOwner new_array_owner() { return std::make_unique<Buffer>(); }

// Returns the tensor as a NumPy array that owns it, with its strides.
nb::object to_numpy(const Tensor& tensor, nb::handle numpy_dtype, ArrayOwner owner = new_array_owner());

// The same, but read-only: for memory that has other owners too.
nb::object to_read_only_numpy(const Tensor& tensor, nb::handle numpy_dtype, ArrayOwner owner = new_array_owner());

}  // namespace backslice::python
