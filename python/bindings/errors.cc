#include "bindings/errors.h"

#include <nanobind/stl/string.h>

namespace backslice::python {
namespace {

[[noreturn]] void raise_named(const char* name, const std::string& message) {
  const nb::object type = nb::module_::import_("backslice.errors").attr(name);
  PyErr_SetString(type.ptr(), message.c_str());
  throw nb::python_error();
}

const char* exception_name(const Status& status) {
  if (status.is_about_dtype()) return "DTypeError";
  switch (status.code()) {
    case StatusCode::InvalidArgument: return "InvalidArgumentError";
    case StatusCode::OutOfRange: return "OutOfRangeError";
    case StatusCode::ResourceExhausted: return "ResourceExhaustedError";
    case StatusCode::FailedPrecondition: return "FailedPreconditionError";
    case StatusCode::Unimplemented: return "UnimplementedError";
    case StatusCode::Ok:
    case StatusCode::Internal: break;
  }
  return "InternalError";
}

}  // namespace

void raise_invalid_argument(const std::string& message) { raise_named("InvalidArgumentError", message); }
void raise_dtype_error(const std::string& message) { raise_named("DTypeError", message); }
void raise_out_of_range(const std::string& message) { raise_named("OutOfRangeError", message); }
void raise_unimplemented(const std::string& message) { raise_named("UnimplementedError", message); }
void raise(const Status& status) { raise_named(exception_name(status), status.message()); }

std::string message_of(const nb::python_error& error) { return nb::str(error.value()).c_str(); }

std::string repr_text(nb::handle object) { return nb::cast<std::string>(nb::repr(object)); }

std::string type_text(nb::handle object) { return Py_TYPE(object.ptr())->tp_name; }

}  // namespace backslice::python
