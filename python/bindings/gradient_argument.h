// The gradients that slice_grad, multi_slice_grad and GradBuffer take: more than an array of exactly the slice's shape.
#pragma once

#include "backslice/selection.h"
#include "bindings/array_argument.h"
#include "bindings/output_argument.h"

namespace backslice::python {

// The dtype that the caller says: with dtype=, by the output, or by a buffer.
class GivenDType {
 public:
  // `dtype` is an argument, None where it is not given. Raises DTypeError where it is not that of the output.
  GivenDType(nb::handle dtype, const OutputArgument& out) : out_(&out) {
    if (!dtype.is_none()) ask(dtype);
  }
  explicit GivenDType(nb::handle numpy_dtype) : own_(numpy_dtype) {}

  // What Python numbers become; not valid where nothing says it.
  nb::object known() const;

  // The argument alone; not valid where it was not given.
  const nb::object& asked() const { return asked_; }

 private:
  void ask(nb::handle dtype);

  nb::object asked_;
  const OutputArgument* out_ = nullptr;
  nb::handle own_;
};

ArrayArgument read_any_gradient(nb::handle dy, const GivenDType& dtype, std::string name, CallContext* call);

// An array; a Python number, which has no dtype and becomes the given one; where dtype= asks for it, lists too. Numbers
// of another kind, and arrays of another dtype than dtype= are DTypeErrors.
inline ArrayArgument read_gradient(nb::handle dy, const GivenDType& dtype, std::string name,
                                   CallContext* call = nullptr) {
  const bool is_usual = PyArray_Check(dy.ptr()) && !dtype.asked().is_valid();
  return is_usual ? ArrayArgument(dy, std::move(name)) : read_any_gradient(dy, dtype, std::move(name), call);
}

// Broadcasts dy to the slice's shape. Where that is not possible, one of too few axes is refused here, since the
// operations would ask for more axes. Any other stays as it is: the operations say what is wrong.
void broadcast_to(const Shape& shape, ConstView& dy, const std::string& name);
inline void broadcast_to_slice(ConstView& dy, const Selection& selection, const std::string& name) {
  if (dy.shape() != selection.result_shape()) broadcast_to(selection.result_shape(), dy, name);
}

}  // namespace backslice::python
