#include "bindings/signatures.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <vector>

#include "bindings/objects.h"
#include "bindings/package.h"
#include "bindings/short_calls.h"
#include "bindings/text.h"
#include "core/errors.h"

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
  PyObject *order, *shown;  // a function in Python that returns its arguments in order; the name in errors
  std::array<PyObject*, kMostParameters> names, defaults;  // null where there is none
  std::size_t count;
  Py_ssize_t positional;  // how many can be given by position; -1 where *name or **name collects arguments
  PyObject* function;     // nanobind's
  vectorcallfunc call;
  ShortCall short_call;    // tried first, where there is one
  bool initialises;        // __init__ and __setstate__ initialise an object
  PyMethodDef definition;  // of the builtin
  PyGetSetDef property;    // of the descriptor
};

constexpr std::size_t kTargets = std::size(kSignatures);
std::array<Target, kTargets> targets;

// The arguments of one call, in the order of the parameters.
class BoundArguments {
 public:
  BoundArguments() = default;
  ~BoundArguments() { drop(made_); }
  BoundArguments(const BoundArguments&) = delete;
  BoundArguments& operator=(const BoundArguments&) = delete;

  // Where the arguments do not fit it raises the TypeError of a Python function, and returns false.
  bool bind(const Target& target, const CallArguments& given) {
    return bind_directly(target, given) || bind_in_python(target, given);
  }

  // The place before the first is free, for self.
  PyObject** values() { return slots_.data() + 1; }

 private:
  bool bind_directly(const Target& target, const CallArguments& given);
  bool bind_in_python(const Target& target, const CallArguments& given) noexcept;

  std::array<PyObject*, kMostParameters + 1> slots_;
  PyObject* made_ = nullptr;  // the tuple that has them, where Python code bound them
};

bool BoundArguments::bind_directly(const Target& target, const CallArguments& given) {
  if (given.positional > target.positional) return false;
  const auto by_position = static_cast<std::size_t>(given.positional);
  std::copy_n(given.values, by_position, values());
  std::copy_n(target.defaults.data() + by_position, target.count - by_position, values() + by_position);
  const auto first = target.names.begin() + given.positional;
  const auto end = target.names.begin() + static_cast<std::ptrdiff_t>(target.count);
  for (Py_ssize_t k = 0; given.keywords != nullptr && k < PyTuple_GET_SIZE(given.keywords); ++k) {
    PyObject* const keyword = PyTuple_GET_ITEM(given.keywords, k);  // interned, nearly always, and so are the names
    auto found = std::find(first, end, keyword);
    if (found == end) found = std::find_if(first, end, [&](PyObject* n) { return PyUnicode_Compare(n, keyword) == 0; });
    if (found == end) return false;
    values()[found - target.names.begin()] = given.values[given.positional + k];
  }
  return std::find(values() + by_position, values() + target.count, nullptr) == values() + target.count;
}

bool BoundArguments::bind_in_python(const Target& target, const CallArguments& given) noexcept {
  try {
    const nb::object bind = registered("bind_call");
    const Py_ssize_t named = given.keywords == nullptr ? 0 : PyTuple_GET_SIZE(given.keywords);
    std::vector<PyObject*> passed{target.order, target.shown};
    passed.insert(passed.end(), given.values, given.values + given.positional + named);
    const auto positional = static_cast<std::size_t>(given.positional) + 2;
    made_ = call_python([&] { return PyObject_Vectorcall(bind.ptr(), passed.data(), positional, given.keywords); });
    for (std::size_t i = 0; made_ != nullptr && i < target.count; ++i) {
      values()[i] = PyTuple_GET_ITEM(made_, static_cast<Py_ssize_t>(i));
    }
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception&) {
    PyErr_NoMemory();
  }
  return made_ != nullptr;
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

// `self` is null where there is none.
PyObject* call_target(const Target& target, PyObject* self, const CallArguments& given) {
  const bool has_self = self != nullptr;
  if (has_self && !is_in_order(target, self)) return nullptr;
  if (target.short_call != nullptr) {
    PyObject* const done = target.short_call(self, given.values, given.positional, given.keywords);
    if (done != nullptr) return done;
  }
  BoundArguments bound;
  if (!bound.bind(target, given)) return nullptr;
  PyObject** const arguments = bound.values() - (has_self ? 1 : 0);
  if (has_self) arguments[0] = self;
  return target.call(target.function, arguments, target.count + (has_self ? 1 : 0), nullptr);
}

// Builtins carry no data of their own: each has a function of its own, which knows its target by number.
template <std::size_t I>
PyObject* function(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* keywords) {
  return call_target(targets[I], nullptr, {values, positional, keywords});
}

template <std::size_t I>
PyObject* method(PyObject* self, PyObject* const* values, Py_ssize_t positional, PyObject* keywords) {
  return call_target(targets[I], self, {values, positional, keywords});
}

template <std::size_t I>
int no_initialiser(PyObject*, PyObject*, PyObject*) {
  PyErr_Format(PyExc_TypeError, "%s has no constructor; use %s", kSignatures[I].name, kSignatures[I].bound);
  return -1;
}

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
  return is_in_order(target, self) ? target.call(target.function, &self, 1, nullptr) : nullptr;
}

struct Entries {
  PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*),
      *(*method)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
  initproc initialise, no_initialiser;
};

template <std::size_t... I>
constexpr std::array<Entries, kTargets> make_entries(std::index_sequence<I...>) {
  return {{{function<I>, method<I>, initialise<I>, no_initialiser<I>}...}};
}

constexpr std::array<Entries, kTargets> kEntries = make_entries(std::make_index_sequence<kTargets>());

void set_parameters(Target& target) {
  const auto& [scope, name, kind, doc, bound] = *target.signature;
  const nb::object empty = checked([] { return PyDict_New(); });
  const nb::object made = checked([&] { return PyRun_String(bound, Py_eval_input, empty.ptr(), empty.ptr()); });
  const nb::object names = made[1], defaults = made[2];
  const std::string shown = kind == Kind::Constructor ? scope : *scope == '\0' ? name : join(scope, ".", name);
  target.order = nb::object(made[0]).release().ptr();
  target.shown = new_str(shown).release().ptr();
  target.count = nb::len(names);
  target.positional = nb::cast<Py_ssize_t>(made[3]);
  for (std::size_t i = 0; i < target.count; ++i) {
    target.names.at(i) = nb::object(names[i]).release().ptr();
    nb::object value = defaults[i];
    if (value.ptr() != Py_Ellipsis) target.defaults.at(i) = value.release().ptr();
  }
}

void set_target(Target& target, const Signature& signature, nb::object function, const Entries& entries) {
  const auto& [scope, name, kind, doc, bound] = signature;
  const bool has_self = kind != Kind::Function && kind != Kind::StaticMethod;
  // By way of void*: the flags say what the function really takes.
  auto* const entry = reinterpret_cast<void*>(has_self ? entries.method : entries.function);
  target.signature = &signature;
  set_parameters(target);
  target.short_call = find_short_call(scope, name);
  target.call = PyVectorcall_Function(function.ptr());
  target.function = function.release().ptr();
  target.initialises = kind == Kind::Constructor || std::strcmp(name, "__setstate__") == 0;
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
    if (*bound != '\0') type->tp_init = entries.no_initialiser;
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
