#include "bindings/neighbours.h"

#include "bindings/errors.h"
#include "bindings/objects.h"

namespace backslice::python {
namespace {

std::string name_of(nb::handle type, const char* attribute) {
  const nb::object name = find_attribute(type, attribute);
  if (!name.is_valid() || !PyUnicode_Check(name.ptr())) return {};
  return std::string(utf8_of(name).value_or(""));
}

std::string library_of_type(nb::handle type) {
  const std::string module = name_of(type, "__module__");
  return module.substr(0, module.find('.'));
}

bool is_a(nb::handle object, const char* library, const char* class_name) {
  return name_of(object.type(), "__name__") == class_name && library_of(object) == library;
}

bool is_tracer(nb::handle object) {
  PyObject* bases = Py_TYPE(object.ptr())->tp_mro;
  if (bases == nullptr) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(bases); ++i) {
    const nb::handle base = PyTuple_GET_ITEM(bases, i);
    if (name_of(base, "__name__") == "Tracer" && library_of_type(base) == "jax") return true;
  }
  return false;
}

}  // namespace

std::string library_of(nb::handle object) { return library_of_type(object.type()); }

void refuse_tracer(nb::handle object, const std::string& argument) {
  if (!is_tracer(object)) return;
  raise_invalid_argument(argument + " is a tracer of JAX (" + type_text(object) +
                         "), which has no values: backslice does not run inside jit, grad or vmap; call it outside, "
                         "or through jax.pure_callback");
}

bool is_immutable(nb::handle object) {
  const std::string library = library_of(object);
  return library == "jax" || library == "jaxlib" || library == "tensorflow";
}

nb::object find_extents(nb::handle object) {
  if (!is_a(object, "tensorflow", "TensorShape")) return {};
  if (attribute(object, "rank").is_none()) return nb::none();
  return call(attribute(object, "as_list"));
}

nb::object find_numpy_name(nb::handle dtype) {
  if (is_a(dtype, "tensorflow", "DType")) return find_attribute(dtype, "as_numpy_dtype");
  if (!is_a(dtype, "torch", "dtype")) return {};
  const std::string text = str_text(dtype);  // torch.bfloat16
  return new_str(text.substr(text.find('.') + 1));
}

nb::object find_ragged_parts(nb::handle object) {
  if (!is_a(object, "tensorflow", "RaggedTensor")) return {};
  return nb::make_tuple(attribute(object, "flat_values"), attribute(object, "nested_row_splits"));
}

}  // namespace backslice::python
