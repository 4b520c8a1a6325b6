#include "bindings/neighbours.h"

#include <string_view>

#include "bindings/errors.h"
#include "bindings/objects.h"

namespace backslice::python {
namespace {

// Does not call Python: most objects are of none of these classes, which the name alone shows.
std::string_view neighbour_name(const PyTypeObject* type) {
  const std::string_view name = type->tp_name;
  return name.substr(name.rfind('.') + 1);
}

std::string library_of_type(nb::handle type) {
  const nb::object module = find_attribute(type, "__module__");
  if (!module.is_valid() || !PyUnicode_Check(module.ptr())) return {};
  const std::string_view path = utf8_of(module).value_or("");
  return std::string(path.substr(0, path.find('.')));
}

bool is_a(nb::handle object, const char* library, const char* class_name) {
  return neighbour_name(Py_TYPE(object.ptr())) == class_name && library_of(object) == library;
}

// Returns whether that class or a base class has this name and comes from this library.
bool is_derived(nb::handle object, std::string_view library, std::string_view class_name) {
  PyObject* bases = Py_TYPE(object.ptr())->tp_mro;
  for (Py_ssize_t i = 0; bases != nullptr && i < PyTuple_GET_SIZE(bases); ++i) {
    PyObject* base = PyTuple_GET_ITEM(bases, i);
    if (neighbour_name(reinterpret_cast<PyTypeObject*>(base)) == class_name && library_of_type(base) == library)
      return true;
  }
  return false;
}

bool is_tracer(nb::handle object) { return is_derived(object, "jax", "Tracer"); }

bool says(nb::handle object, const char* method) { return call(attribute(object, method)).ptr() == Py_True; }

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

bool is_lazy_tensor(nb::handle object) {
  return is_derived(object, "torch", "TensorBase") && (says(object, "is_conj") || says(object, "is_neg"));
}

nb::object resolved_tensor(nb::handle object) {
  return call(attribute(call(attribute(object, "resolve_conj")), "resolve_neg"));
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
