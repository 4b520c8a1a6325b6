#include "bindings/signatures.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "bindings/objects.h"
#include "bindings/package.h"
#include "bindings/short_calls.h"

namespace backslice::python {
namespace {

enum class Kind { Function, Class, Constructor, Method, StaticMethod, Property };

// One row of the table that generate_signatures.py makes of the type stubs.
struct Signature {
  const char *scope, *name;  // the class, or empty
  Kind kind;
  const char* doc;    // begins with the text signature, where it is of something that can be called
  const char* bound;  // code for its parameters; of a class without a constructor: what makes its instances
};

#include "signature_table.h"

constexpr std::size_t kMostParameters = 16;

// What Python passes to a function, by the protocol of vectorcall.
struct CallArguments {
  PyObject* const* values;  // positional ones, then those of the keywords
  Py_ssize_t positional;
  PyObject* keywords;  // a tuple of str, or null
};

// The builtin of one function. Its objects live as long as the process.
struct Target {
  const Signature* signature;
  PyObject* bind;                                          // a function in Python that returns its arguments in order
  std::array<PyObject*, kMostParameters> names, defaults;  // null where there is none
  std::size_t count;
  Py_ssize_t positional;  // how many can be given by position; -1 where *name or **name collects arguments
  PyObject* function;     // nanobind's
  vectorcallfunc call;
  ShortCall short_call;  // tried first, where there is one
  bool has_self;
  bool initialises;        // __init__ and __setstate__ initialise an object
  PyMethodDef definition;  // of the builtin
  PyGetSetDef property;    // of the descriptor
};

constexpr std::size_t kTargets = std::size(kSignatures);
std::array<Target, kTargets> targets;

struct Drop {
  void operator()(PyObject* reference) const noexcept { drop(reference); }
};
using Reference = std::unique_ptr<PyObject, Drop>;

// The arguments of one call, in the order of the parameters.
struct BoundArguments {
  std::array<PyObject*, kMostParameters + 1> slots;  // the first is for self
  Reference made;                                    // the tuple that has them, where Python code bound them

  PyObject** values() { return slots.data() + 1; }
};

bool bind_directly(const Target& target, const CallArguments& given, PyObject** values) {
  if (given.positional > target.positional) return false;
  const auto by_position = static_cast<std::size_t>(given.positional);
  std::copy_n(given.values, by_position, values);
  std::copy_n(target.defaults.data() + by_position, target.count - by_position, values + by_position);
  const auto first = target.names.begin() + given.positional;
  const auto end = target.names.begin() + static_cast<std::ptrdiff_t>(target.count);
  for (Py_ssize_t k = 0; given.keywords != nullptr && k < PyTuple_GET_SIZE(given.keywords); ++k) {
    PyObject* const keyword = PyTuple_GET_ITEM(given.keywords, k);  // interned, nearly always, and so are the names
    auto found = std::find(first, end, keyword);
    if (found == end) found = std::find_if(first, end, [&](PyObject* n) { return PyUnicode_Compare(n, keyword) == 0; });
    if (found == end) return false;
    values[found - target.names.begin()] = given.values[given.positional + k];
  }
  return std::find(values + by_position, values + target.count, nullptr) == values + target.count;
}

// Where the arguments do not fit it raises the TypeError of a Python function, and returns false.
bool bind(const Target& target, const CallArguments& given, BoundArguments& bound) {
  if (bind_directly(target, given, bound.values())) return true;
  const auto [values, positional, keywords] = given;
  const auto count = static_cast<std::size_t>(positional);
  bound.made.reset(call_python([&] { return PyObject_Vectorcall(target.bind, values, count, keywords); }));
  if (bound.made == nullptr) return false;
  std::copy_n(PySequence_Fast_ITEMS(bound.made.get()), target.count, bound.values());
  return true;
}

bool is_in_order(const Target& target, PyObject* self) {
  const bool is_ready = nb::inst_ready(self);
  if (is_ready != target.initialises) return true;
  const auto& [scope, name, kind, doc, bound] = *target.signature;
  if (is_ready) {
    PyErr_Format(PyExc_TypeError, "%s.%s(): this %s is already initialised", scope, name, scope);
  } else {
    PyErr_Format(PyExc_TypeError, "%s.%s%s: this %s was never initialised; its __init__() was not called", scope, name,
                 kind == Kind::Property ? "" : "()", scope);
  }
  return false;
}

PyObject* call_target(const Target& target, PyObject* self, const CallArguments& given) {
  if (target.has_self && !is_in_order(target, self)) return nullptr;
  if (target.short_call != nullptr) {
    PyObject* const done = target.short_call(self, given.values, given.positional, given.keywords);
    if (done != nullptr) return done;
  }
  BoundArguments bound;
  if (!bind(target, given, bound)) return nullptr;
  bound.slots[0] = self;
  const std::size_t selves = target.has_self ? 1 : 0;
  return target.call(target.function, bound.values() - selves, target.count + selves, nullptr);
}

// Builtins carry no data of their own: each has a function of its own, which knows its target by number.
template <std::size_t I>
PyObject* enter(PyObject* self, PyObject* const* values, Py_ssize_t positional, PyObject* keywords) {
  return call_target(targets[I], self, {values, positional, keywords});
}

template <std::size_t I>
int initialise(PyObject* self, PyObject* values, PyObject* keywords) {
  if (kSignatures[I].kind == Kind::Class) {
    PyErr_Format(PyExc_TypeError, "%s has no constructor; use %s", kSignatures[I].name, kSignatures[I].bound);
    return -1;
  }
  const Reference bound(PyCFunction_NewEx(&targets[I].definition, self, nullptr));
  const Reference none(bound == nullptr ? nullptr : PyObject_Call(bound.get(), values, keywords));
  return none == nullptr ? -1 : 0;
}

PyObject* get_property(PyObject* self, void* closure) {
  const auto& target = *static_cast<const Target*>(closure);
  return is_in_order(target, self) ? target.call(target.function, &self, 1, nullptr) : nullptr;
}

struct Entries {
  PyObject* (*call)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
  initproc initialise;
};

template <std::size_t... I>
constexpr std::array<Entries, kTargets> make_entries(std::index_sequence<I...>) {
  return {{{enter<I>, initialise<I>}...}};
}

constexpr std::array<Entries, kTargets> kEntries = make_entries(std::make_index_sequence<kTargets>());

void set_target(Target& target, const Signature& signature, nb::object function, const Entries& entries) {
  const auto& [scope, name, kind, doc, code] = signature;
  const nb::object made = evaluated(code), names = made[1], defaults = made[2];
  target.bind = nb::object(made[0]).release().ptr();
  target.count = nb::len(names);
  target.positional = nb::cast<Py_ssize_t>(made[3]);
  for (std::size_t i = 0; i < target.count; ++i) {
    target.names.at(i) = nb::object(names[i]).release().ptr();
    nb::object value = defaults[i];
    if (value.ptr() != Py_Ellipsis) target.defaults.at(i) = value.release().ptr();
  }
  target.signature = &signature;
  target.short_call = find_short_call(scope, name);
  target.call = PyVectorcall_Function(function.ptr());
  target.function = function.release().ptr();
  target.has_self = kind != Kind::Function && kind != Kind::StaticMethod;
  target.initialises = kind == Kind::Constructor || std::strcmp(name, "__setstate__") == 0;
  auto* const entry = reinterpret_cast<void*>(entries.call);  // the flags say what the function really takes
  target.definition = {name, reinterpret_cast<PyCFunction>(entry), METH_FASTCALL | METH_KEYWORDS, doc};
  target.property = {name, get_property, nullptr, doc, &target};
}

// As in classes that are written in C: __init__ wraps a slot of the type, and inspect.signature looks at the class.
PyObject* new_initialiser(PyTypeObject* type, initproc initialise) {
  const nb::object plain = attribute(reinterpret_cast<PyObject*>(&PyBaseObject_Type), "__init__");
  return PyDescr_NewWrapper(type, reinterpret_cast<PyWrapperDescrObject*>(plain.ptr())->d_base,
                            reinterpret_cast<void*>(initialise));
}

// A function of the module has it as its __self__, and one of a class has the class, so that it can be pickled.
PyObject* new_builtin(nb::handle m, nb::handle scope, Target& target, const Entries& entries) {
  auto* const type = reinterpret_cast<PyTypeObject*>(scope.ptr());
  switch (target.signature->kind) {
    case Kind::Constructor: return new_initialiser(type, entries.initialise);
    case Kind::Method: return PyDescr_NewMethod(type, &target.definition);
    case Kind::Property: return PyDescr_NewGetSet(type, &target.property);
    default: return PyCFunction_NewEx(&target.definition, scope.ptr(), attribute(m, "__name__").ptr());
  }
}

void install(nb::handle m, const Signature& signature, Target& target, const Entries& entries) {
  const auto& [scope_name, name, kind, doc, bound] = signature;
  const nb::object scope = *scope_name == '\0' ? nb::borrow(m) : attribute(m, scope_name);
  const nb::object nanobinds = attribute(scope, name);
  if (kind == Kind::Class) {
    auto* const type = reinterpret_cast<PyTypeObject*>(nanobinds.ptr());
    type->tp_vectorcall = nullptr;  // calls go by way of tp_init
    if (*bound != '\0') type->tp_init = entries.initialise;
    return;
  }
  set_target(target, signature, kind == Kind::Property ? attribute(nanobinds, "fget") : nanobinds, entries);
  nb::object made = checked([&] { return new_builtin(m, scope, target, entries); });
#if PY_VERSION_HEX >= 0x030E0000
  (void)PyUnstable_Object_EnableDeferredRefcount(made.ptr());  // else free-threaded calls contend for its count
#endif
  if (kind == Kind::StaticMethod) made = checked([&] { return PyStaticMethod_New(made.ptr()); });
  if (call_python([&] { return PyObject_SetAttrString(scope.ptr(), name, made.ptr()); }) != 0) nb::raise_python_error();
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
