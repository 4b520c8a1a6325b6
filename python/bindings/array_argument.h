// Arguments that are arrays, read in two phases.
//
// Resolving an argument may run code of users (__array__, __dlpack__, __index__), and that code may resize, reshape or
// retype the arrays that were given beside it. So a function first makes an ArrayArgument of each of its arrays and
// reads all other arguments; then it takes the views, with nothing in between that runs Python code:
//
//     const ArrayArgument x(given_x, "x"), y(given_y, "y");   // may run code
//     const auto shape = read_shape(given_shape, "shape");    // may run code
//     const InputArray x_view = x.view(), y_view = y.view();  // runs none
#pragma once

#include <memory>
#include <string>

#include "bindings/arrays.h"
#include "bindings/dlpack.h"

namespace backslice::python {

// A NumPy array, an object with __dlpack__ on the CPU, or anything that np.asarray accepts. With `call`, also an array
// on a CUDA device.
class ArrayArgument {
 public:
  // Raises InvalidArgumentError for objects that are not arrays, DTypeError for elements that cannot be moved.
  ArrayArgument(nb::handle object, std::string name, CallContext* call = nullptr);

  const std::string& name() const { return name_; }
  const nb::object& numpy_dtype() const { return numpy_dtype_; }
  bool is_object() const { return type_.is_object; }
  bool is_on_device() const { return on_device_.call != nullptr; }
  // The argument's own place, since arrays of other libraries may be given beside it. Runs Python code.
  Place place() const;

  // Returns the array as it is now, in place. Runs no Python code unless it raises InvalidArgumentError, because the
  // dtype was changed since the argument was resolved.
  InputArray view() const;

  // Returns the same memory as a tensor, which keeps it alive. NumPy refuses to resize the array meanwhile. On a
  // device, the memory is released in the order of the call's stream.
  Tensor held() const;

  // Whether released device memory is reused only after the work that the call's stream has queued by then. If the
  // library allocated it on another stream, it is not. Runs code of that library.
  bool is_kept_for_call() const;

 private:
  void resolve_numpy(nb::object array);
  bool resolve_dlpack(nb::handle object, std::string& failure, CallContext* call);
  bool resolve_cuda_interface(nb::handle object, CallContext* call);
  void hold(std::shared_ptr<const DlpackArray> array, nb::handle object, CallContext* call);
  void resolve_any(nb::handle object, const std::string& failure);
  Tensor held_on_device() const;

  std::string name_;
  nb::object array_;                           // of NumPy,
  nb::object guard_;                           // which nobody may resize the memory of, where it is a view,
  std::shared_ptr<const DlpackArray> dlpack_;  // or of another library
  OnDevice on_device_;
  nb::object numpy_dtype_;
  ElementType type_;
};

}  // namespace backslice::python
