// The gradients that slice_grad, multi_slice_grad and GradBuffer accept: arrays that broadcast to the slice's shape,
// and numbers.
#pragma once

#include "backslice/selection.h"
#include "bindings/array_argument.h"
#include "bindings/output_argument.h"

namespace backslice::python {

// The dtype that the caller gives: by dtype=, by the output, or by a buffer.
class GivenDType {
 public:
  // `dtype` is an argument, None if it is not given. Raises DTypeError if it differs from the output's dtype.
  GivenDType(nb::handle dtype, const OutputArgument& out) : out_(&out) {
    if (!dtype.is_none()) ask(dtype);
  }
  explicit GivenDType(nb::handle numpy_dtype) : own_(numpy_dtype) {}

  // The dtype for Python numbers; not valid if none is given.
  nb::object known() const;

  // The argument alone; not valid if it was not given.
  const nb::object& asked() const { return asked_; }

 private:
  void ask(nb::handle dtype);

  nb::object asked_;
  const OutputArgument* out_ = nullptr;
  nb::handle own_;
};

ArrayArgument read_any_gradient(nb::handle dy, const GivenDType& dtype, std::string name, CallContext* call);

// An array, or a Python number, which gets the given dtype; with dtype= also a list. Numbers of another kind, and
// arrays of another dtype than dtype=, are DTypeErrors.
inline ArrayArgument read_gradient(nb::handle dy, const GivenDType& dtype, std::string name,
                                   CallContext* call = nullptr) {
  const bool is_usual = PyArray_Check(dy.ptr()) && !dtype.asked().is_valid();
  return is_usual ? ArrayArgument(dy, std::move(name)) : read_any_gradient(dy, dtype, std::move(name), call);
}

// Broadcasts dy to the slice's shape. If that is impossible because dy has too few axes, it is refused here, since the
// operation's message would demand more axes. Any other dy stays as it is: the operation refuses it.
void broadcast_to(const Shape& shape, ConstView& dy, const std::string& name);
inline void broadcast_to_slice(ConstView& dy, const Selection& selection, const std::string& name) {
  if (dy.shape() != selection.result_shape()) broadcast_to(selection.result_shape(), dy, name);
}

}  // namespace backslice::python
