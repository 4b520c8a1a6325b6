// An `out` argument, read in two phases like the arrays of array_argument.h: resolving it may run users' code
// (__dlpack__), so it is made before any array is viewed.
#pragma once

#include <memory>

#include "bindings/arrays.h"
#include "bindings/dlpack.h"

namespace backslice::python {

// A NumPy array, or another library's array on the CPU that exports its memory for writing; with `call`, also on a CUDA
// device. Or None.
class OutputArgument {
 public:
  // Raises DTypeError for other objects, InvalidArgumentError for arrays of other libraries that are read-only.
  explicit OutputArgument(nb::handle out, CallContext* call = nullptr) : out_(out), call_(call) {
    if (!out.is_none() && !PyArray_Check(out.ptr())) resolve(call);
  }

  bool is_none() const { return out_.is_none(); }
  nb::handle object() const { return out_; }
  const CallContext* call() const { return call_; }  // the call that it was given to, or null

  // Its own dtype; not valid for None.
  nb::object numpy_dtype() const;

  // Returns the memory, for elements of that dtype, those of `owner`. Runs no Python code unless it raises: DTypeError
  // for another dtype, InvalidArgumentError for read-only arrays. Precondition: it is not None.
  View view(nb::handle numpy_dtype, const ElementType& type, const char* owner) const;
  View view(const InputArray& input, const char* input_argument) const {
    return view(input.numpy_dtype, input.type, input_argument);
  }

  // Keeps the memory in place while other code may run.
  nb::object guard() const { return dlpack_ ? nb::object() : keep_from_resizing(out_); }

 private:
  void resolve(CallContext* call);

  nb::handle out_;
  const CallContext* call_;
  std::shared_ptr<const DlpackArray> dlpack_;  // for objects that are not NumPy arrays
};

}  // namespace backslice::python
