#include "bindings/signatures.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bindings/bound_arguments.h"
#include "bindings/call_errors.h"
#include "bindings/objects.h"
#include "bindings/short_calls.h"

namespace backslice::python {
namespace {

#include "signature_table.h"

// What one builtin passes its calls on to.
struct Target {
  Parameters parameters;
  PyObject* function;  // nanobind's; lives as long as the process
  vectorcallfunc call;
  vectorcallfunc construct;  // of the class, where the function is an __init__
  ShortCall short_call;      // tried first, where there is one
  bool initialises;          // __init__ and __setstate__ make an object of what is none yet
  PyMethodDef definition;    // of the builtin
  PyGetSetDef property;      // of the descriptor
};

constexpr std::size_t kTargets = std::size(kSignatures);
std::array<Target, kTargets> targets;

bool is_in_order(const Target& target, PyObject* self) {
  const bool is_ready = nb::inst_ready(self);
  if (is_ready != target.initialises) return true;
  (is_ready ? set_already_initialised : set_never_initialised)(*target.parameters.signature);
  return false;
}

PyObject* call_shortly(const Target& target, PyObject* self, const CallArguments& given) {
  if (target.short_call == nullptr) return nullptr;
  return target.short_call(self, given.values, given.positional, given.keywords);
}

PyObject* call_function(const Target& target, const CallArguments& given) {
  if (PyObject* done = call_shortly(target, nullptr, given)) return done;
  BoundArguments bound;
  if (!bound.bind(target.parameters, given)) return nullptr;
  return target.call(target.function, bound.values(), target.parameters.signature->count, nullptr);
}

PyObject* call_method(const Target& target, PyObject* self, const CallArguments& given) {
  if (!is_in_order(target, self)) return nullptr;
  if (PyObject* done = call_shortly(target, self, given)) return done;
  BoundArguments bound;
  if (!bound.bind(target.parameters, given)) return nullptr;
  PyObject** arguments = bound.values() - 1;
  arguments[0] = self;
  return target.call(target.function, arguments, target.parameters.signature->count + 1, nullptr);
}

PyObject* call_constructor(const Target& target, PyObject* type, const CallArguments& given) {
  BoundArguments bound;
  if (!bound.bind(target.parameters, given)) return nullptr;
  const std::size_t count = target.parameters.signature->count;
  return target.construct(type, bound.values(), count | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
}

// Builtins carry no data of their own: each has a function of its own, which knows its target by number.
template <std::size_t I>
PyObject* function(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* keywords) {
  return call_function(targets[I], {values, positional, keywords});
}

template <std::size_t I>
PyObject* method(PyObject* self, PyObject* const* values, Py_ssize_t positional, PyObject* keywords) {
  return call_method(targets[I], self, {values, positional, keywords});
}

template <std::size_t I>
PyObject* constructor(PyObject* type, PyObject* const* values, std::size_t count, PyObject* keywords) {
  return call_constructor(targets[I], type, {values, PyVectorcall_NARGS(count), keywords});
}

template <std::size_t I>
PyObject* no_constructor(PyObject*, PyObject* const*, std::size_t, PyObject*) {
  set_no_constructor(kSignatures[I]);
  return nullptr;
}

// What Python 3.10 calls instead.
template <std::size_t I>
int no_initialiser(PyObject*, PyObject*, PyObject*) {
  set_no_constructor(kSignatures[I]);
  return -1;
}

// For subclasses: what their super().__init__() calls, with a tuple and a dict.
template <std::size_t I>
int initialise(PyObject* self, PyObject* values, PyObject* keywords) {
  PyObject* bound = PyCFunction_NewEx(&targets[I].definition, self, nullptr);
  if (bound == nullptr) return -1;
  PyObject* none = PyObject_Call(bound, values, keywords);
  Py_DECREF(bound);
  Py_XDECREF(none);
  return none == nullptr ? -1 : 0;
}

PyObject* get_property(PyObject* self, void* closure) {
  const auto& target = *static_cast<const Target*>(closure);
  if (!is_in_order(target, self)) return nullptr;
  return target.call(target.function, &self, 1, nullptr);
}

using Fast = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

struct Entries {
  Fast function, method;
  vectorcallfunc constructor, no_constructor;
  initproc initialise, no_initialiser;
};

template <std::size_t... I>
constexpr std::array<Entries, kTargets> make_entries(std::index_sequence<I...>) {
  return {{{function<I>, method<I>, constructor<I>, no_constructor<I>, initialise<I>, no_initialiser<I>}...}};
}

constexpr std::array<Entries, kTargets> kEntries = make_entries(std::make_index_sequence<kTargets>());

void set_attribute(nb::handle object, const char* name, nb::handle value) {
  if (call_python([&] { return PyObject_SetAttrString(object.ptr(), name, value.ptr()); }) != 0) {
    nb::raise_python_error();
  }
}

void set_target(Target& target, const Signature& signature, nb::object function, Fast entry) {
  target.parameters = make_parameters(signature);
  target.short_call = find_short_call(signature.scope, signature.name);
  target.call = PyVectorcall_Function(function.ptr());
  target.function = function.release().ptr();
  target.initialises = signature.kind == Kind::Constructor || std::strcmp(signature.name, "__setstate__") == 0;
  // By way of void*: the flags say what the function really takes.
  const auto plain = reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(entry));
  target.definition = {signature.name, plain, METH_FASTCALL | METH_KEYWORDS, signature.doc};
}

// A function of the module, or of a class whose __self__ it then is, so that it can be pickled.
nb::object new_function(nb::handle m, nb::handle scope, Target& target) {
  const nb::object module_name = attribute(m, "__name__");
  return checked([&] { return PyCFunction_NewEx(&target.definition, scope.ptr(), module_name.ptr()); });
}

void install_method(PyTypeObject* type, const Signature& signature, Target& target, const Entries& entries) {
  set_target(target, signature, attribute(reinterpret_cast<PyObject*>(type), signature.name), entries.method);
  const nb::object made = checked([&] { return PyDescr_NewMethod(type, &target.definition); });
  set_attribute(reinterpret_cast<PyObject*>(type), signature.name, made);
}

// As in classes that are written in C: __init__ wraps a slot of the type, and inspect.signature looks at the class.
void install_constructor(PyTypeObject* type, const Signature& signature, Target& target, const Entries& entries) {
  set_target(target, signature, attribute(reinterpret_cast<PyObject*>(type), signature.name), entries.method);
  const nb::object plain = attribute(reinterpret_cast<PyObject*>(&PyBaseObject_Type), signature.name);
  wrapperbase* slot = reinterpret_cast<PyWrapperDescrObject*>(plain.ptr())->d_base;
  const auto wrapped = reinterpret_cast<void*>(entries.initialise);
  const nb::object made = checked([&] { return PyDescr_NewWrapper(type, slot, wrapped); });
  set_attribute(reinterpret_cast<PyObject*>(type), signature.name, made);
  target.construct = std::exchange(type->tp_vectorcall, entries.constructor);
}

void install_property(PyTypeObject* type, const Signature& signature, Target& target) {
  const nb::object property = attribute(reinterpret_cast<PyObject*>(type), signature.name);
  set_target(target, signature, attribute(property, "fget"), nullptr);
  target.property = {signature.name, get_property, nullptr, signature.doc, &target};
  const nb::object made = checked([&] { return PyDescr_NewGetSet(type, &target.property); });
  set_attribute(reinterpret_cast<PyObject*>(type), signature.name, made);
}

void install_class(nb::handle type, const Signature& signature, const Entries& entries) {
  const bool has_constructor = *signature.makers == '\0';
  if (has_constructor) return;
  auto* const made = reinterpret_cast<PyTypeObject*>(type.ptr());
  made->tp_vectorcall = entries.no_constructor;
  made->tp_init = entries.no_initialiser;
}

void install(nb::handle m, const Signature& signature, Target& target, const Entries& entries) {
  const nb::object scope = *signature.scope == '\0' ? nb::borrow(m) : attribute(m, signature.scope);
  auto* type = reinterpret_cast<PyTypeObject*>(scope.ptr());  // of what is in a class
  switch (signature.kind) {
    case Kind::Class: return install_class(attribute(m, signature.name), signature, entries);
    case Kind::Constructor: return install_constructor(type, signature, target, entries);
    case Kind::Method: return install_method(type, signature, target, entries);
    case Kind::Property: return install_property(type, signature, target);
    case Kind::Function:
    case Kind::StaticMethod: break;
  }
  set_target(target, signature, attribute(scope, signature.name), entries.function);
  nb::object made = new_function(m, scope, target);
  if (signature.kind == Kind::StaticMethod) made = checked([&] { return PyStaticMethod_New(made.ptr()); });
  set_attribute(scope, signature.name, made);
}

}  // namespace

const char* class_doc(std::string_view name) {
  const auto is_class = [&](const Signature& row) { return row.kind == Kind::Class && row.name == name; };
  const auto* found = std::find_if(std::begin(kSignatures), std::end(kSignatures), is_class);
  return found == std::end(kSignatures) ? nullptr : found->doc;
}

void install_signatures(nb::module_& m) {
  for (std::size_t i = 0; i < kTargets; ++i) install(m, kSignatures[i], targets[i], kEntries[i]);
}

}  // namespace backslice::python
