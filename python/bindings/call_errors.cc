#include "bindings/call_errors.h"

#include <exception>
#include <string>
#include <vector>

#include "bindings/objects.h"
#include "bindings/text.h"

namespace backslice::python {
namespace {

std::string name_of(const Signature& signature) {
  const std::string scope = signature.scope, name = signature.name;
  if (signature.kind == Kind::Constructor) return scope + "()";
  return (scope.empty() ? name : scope + "." + name) + (signature.kind == Kind::Property ? "" : "()");
}

// "a", "a and b", "a, b and c"
std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

std::string quoted(const char* name) { return std::string("'") + name + "'"; }

std::vector<std::string> keywords_of(const Signature& signature) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < signature.count; ++i) {
    if (!is_collector(signature, i)) names.emplace_back(signature.parameters[i].name);
  }
  return names;
}

// The parameter whose name is nearly that, or nothing.
std::string nearest(const Signature& signature, PyObject* keyword) {
  NewList names;
  for (const std::string& name : keywords_of(signature)) names.append(new_str(name));
  const nb::object find = attribute(imported("difflib"), "get_close_matches");
  const nb::object found = call_with(find, nb::make_tuple(nb::handle(keyword), names.list(), 1));
  return nb::len(found) == 0 ? "" : str_text(nb::object(found[0]));
}

std::string unexpected_keyword(const Signature& signature, PyObject* keyword) {
  std::string text = name_of(signature) + " got an unexpected keyword argument " + repr_text(keyword);
  const std::vector<std::string> names = keywords_of(signature);
  if (names.empty()) return text + "; it takes none";
  const std::string near = nearest(signature, keyword);
  if (!near.empty()) return text + "; did you mean '" + near + "'?";
  return text + (names.size() == 1 ? "; its parameter is " : "; its parameters are ") + joined(names);
}

std::string too_many_arguments(const Signature& signature, const CallArguments& given) {
  std::size_t required = 0;
  while (required < signature.positional && signature.parameters[required].default_value == nullptr) ++required;
  const std::string most = std::to_string(signature.positional);
  std::string text = name_of(signature) + " takes " +
                     (required < signature.positional ? "from " + std::to_string(required) + " to " + most : most) +
                     (most == "1" ? " positional argument but " : " positional arguments but ") +
                     std::to_string(given.positional) + (given.positional == 1 ? " was given" : " were given");
  std::vector<std::string> others;
  for (std::size_t i = signature.positional; i < signature.count; ++i) {
    if (!is_collector(signature, i)) others.emplace_back(signature.parameters[i].name);
  }
  return others.empty() ? text : text + "; pass " + joined(others) + " by keyword";
}

std::string missing_arguments(const Signature& signature, PyObject* const* values) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < signature.count; ++i) {
    const Parameter& parameter = signature.parameters[i];
    if (values[i] == nullptr && parameter.default_value == nullptr) names.push_back(quoted(parameter.name));
  }
  return name_of(signature) + " missing " + std::to_string(names.size()) + " required positional argument" +
         (names.size() == 1 ? ": " : "s: ") + joined(names);
}

// Raises TypeError, or what hinders saying it.
template <class Message>
void set_type_error(const Message& message) noexcept {
  try {
    PyErr_SetObject(PyExc_TypeError, new_str(message()).ptr());
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception&) {  // out of memory
    PyErr_NoMemory();
  }
}

}  // namespace

void set_too_many_arguments(const Signature& signature, const CallArguments& given) noexcept {
  set_type_error([&] { return too_many_arguments(signature, given); });
}

void set_missing_arguments(const Signature& signature, PyObject* const* values) noexcept {
  set_type_error([&] { return missing_arguments(signature, values); });
}

void set_argument_given_twice(const Signature& signature, std::size_t parameter) noexcept {
  set_type_error([&] {
    return name_of(signature) + " got multiple values for argument " + quoted(signature.parameters[parameter].name);
  });
}

void set_unexpected_keyword(const Signature& signature, PyObject* keyword) noexcept {
  set_type_error([&] { return unexpected_keyword(signature, keyword); });
}

void set_no_constructor(const Signature& signature) noexcept {
  set_type_error([&] { return std::string(signature.name) + " has no constructor; use " + signature.makers; });
}

void set_never_initialised(const Signature& signature) noexcept {
  set_type_error([&] {
    return name_of(signature) + ": this " + signature.scope + " was never initialised; its __init__() was not called";
  });
}

void set_already_initialised(const Signature& signature) noexcept {
  set_type_error([&] {
    return std::string(signature.scope) + "." + signature.name + "(): this " + signature.scope +
           " is already initialised";
  });
}

}  // namespace backslice::python
