#include "bindings/gradient_argument.h"

#include "backslice/broadcast.h"
#include "bindings/errors.h"
#include "bindings/objects.h"
#include "bindings/package.h"

namespace backslice::python {
namespace {

// Returns whether it is a bool, int, float or complex. NumPy's own scalars have a dtype, although some derive from
// Python's.
bool is_python_number(nb::handle object) {
  PyObject* p = object.ptr();
  return (PyLong_Check(p) || PyFloat_Check(p) || PyComplex_Check(p)) && !PyArray_CheckScalar(p);
}

bool is_list(nb::handle object) { return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()); }

nb::object converted(nb::handle value, nb::handle dtype, const std::string& name) {
  return call_with(registered("as_array"), nb::make_tuple(value, dtype, new_str(name)));
}

}  // namespace

nb::object GivenDType::known() const {
  if (asked_.is_valid()) return asked_;
  return out_ != nullptr ? out_->numpy_dtype() : nb::borrow(own_);
}

void GivenDType::ask(nb::handle dtype) {
  nb::object wanted = as_numpy_dtype(dtype);
  if (const nb::object given = known(); given.is_valid() && !same_dtype(given, wanted)) {
    raise_dtype_error("out has dtype " + str_text(given) + ", but dtype is " + str_text(wanted));
  }
  asked_ = std::move(wanted);
}

ArrayArgument read_any_gradient(nb::handle dy, const GivenDType& dtype, std::string name, CallContext* call) {
  const nb::object wanted = is_python_number(dy) ? dtype.known() : dtype.asked();
  if (is_python_number(dy) && !wanted.is_valid()) {
    raise_dtype_error(name + " is " + repr_text(dy) +
                      ", a Python number, which has no dtype; pass dtype=, for example dtype=\"float32\"");
  }
  if (is_python_number(dy) || (wanted.is_valid() && is_list(dy))) {
    return {converted(dy, wanted, name), std::move(name)};
  }
  ArrayArgument array(dy, std::move(name), call);
  if (wanted.is_valid() && !same_dtype(array.numpy_dtype(), wanted)) {
    raise_dtype_error(array.name() + " has dtype " + str_text(array.numpy_dtype()) + ", but dtype is " +
                      str_text(wanted) + "; convert it first, or leave dtype out");
  }
  return array;
}

void broadcast_to(const Shape& shape, ConstView& dy, const std::string& name) {
  const auto wide = broadcast(shape, dy, name.c_str());
  if (wide.ok()) {
    dy = *wide;
  } else if (dy.shape().rank() < shape.rank()) {
    check(wide.status());
  }
}

}  // namespace backslice::python
