// An `out` argument, read in two phases as an array_argument.h is: resolving it may run code of users (__dlpack__), so
// it is made before any array is viewed.
#pragma once

#include <memory>

#include "bindings/arrays.h"
#include "bindings/dlpack.h"

namespace backslice::python {

// A NumPy array, or an array of another library on the CPU that exports its memory for writing; where the function says
// what its call is, also on a CUDA device. Or None.
class OutputArgument {
 public:
  // Raises DTypeError for other objects, InvalidArgumentError for arrays of other libraries that cannot be written to.
  explicit OutputArgument(nb::handle out, CallContext* call = nullptr) : out_(out), call_(call) {
    if (!out.is_none() && !PyArray_Check(out.ptr())) resolve(call);
  }

  bool is_none() const { return out_.is_none(); }
  nb::handle object() const { return out_; }
  const CallContext* call() const { return call_; }  // that it was given to, where it said so

  // Its own dtype; not valid for None.
  nb::object numpy_dtype() const;

  // The memory, of elements of that dtype, those of `owner`. Runs no Python code unless it raises: DTypeError for
  // another dtype, InvalidArgumentError for read-only arrays. Precondition: it is not None.
  View view(nb::handle numpy_dtype, const ElementType& type, const char* owner) const;
  View view(const InputArray& input, const char* input_argument) const {
    return view(input.numpy_dtype, input.type, input_argument);
  }

  // What keeps the memory where it is while others may run.
  nb::object guard() const { return dlpack_ ? nb::object() : keep_from_resizing(out_); }

 private:
  void resolve(CallContext* call);

  nb::handle out_;
  const CallContext* call_;
  std::shared_ptr<const DlpackArray> dlpack_;  // where it is no NumPy array
};

}  // namespace backslice::python
