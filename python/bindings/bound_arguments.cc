#include "bindings/bound_arguments.h"

#include <algorithm>

#include "bindings/call_errors.h"
#include "bindings/objects.h"

namespace backslice::python {
namespace {

PyObject* new_default(const char* literal) {
  const nb::object nothing = checked([] { return PyDict_New(); });
  return checked([&] { return PyRun_String(literal, Py_eval_input, nothing.ptr(), nothing.ptr()); }).release().ptr();
}

// Keywords are interned, nearly always, and so are the names. The count stands for no parameter.
std::size_t find_parameter(const Parameters& parameters, PyObject* keyword) {
  const Signature& signature = *parameters.signature;
  const auto begin = parameters.names.begin(), end = begin + static_cast<std::ptrdiff_t>(signature.count);
  auto found = std::find(begin, end, keyword);
  if (found == end) found = std::find_if(begin, end, [&](PyObject* n) { return PyUnicode_Compare(n, keyword) == 0; });
  const auto i = static_cast<std::size_t>(found - begin);
  return i < signature.count && is_collector(signature, i) ? signature.count : i;
}

}  // namespace

Parameters make_parameters(const Signature& signature) {
  Parameters made{&signature, {}, {}};
  for (std::size_t i = 0; i < signature.count; ++i) {
    const Parameter& parameter = signature.parameters[i];
    made.names[i] = checked([&] { return PyUnicode_InternFromString(parameter.name); }).release().ptr();
    if (parameter.default_value != nullptr) made.defaults[i] = new_default(parameter.default_value);
  }
  return made;
}

bool BoundArguments::bind(const Parameters& parameters, const CallArguments& given) {
  const Signature& signature = *parameters.signature;
  const auto by_position = static_cast<std::size_t>(given.positional);
  if (by_position > signature.positional && !signature.collects) {
    set_too_many_arguments(signature, given);
    return false;
  }
  const std::size_t taken = std::min(by_position, signature.positional);
  std::copy_n(given.values, taken, values());
  if (taken == signature.count) return given.keywords == nullptr || bind_keywords(parameters, given);
  std::fill(values() + taken, values() + signature.count, nullptr);
  if (signature.collects && !collect(parameters, given)) return false;
  if (signature.collects_keywords && !collect_keywords(parameters)) return false;
  if (given.keywords != nullptr && !bind_keywords(parameters, given)) return false;
  return bind_defaults(parameters, given);
}

bool BoundArguments::bind_keywords(const Parameters& parameters, const CallArguments& given) {
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(given.keywords); ++k) {
    PyObject* value = given.values[given.positional + k];
    if (!bind_keyword(parameters, PyTuple_GET_ITEM(given.keywords, k), value)) return false;
  }
  return true;
}

bool BoundArguments::bind_keyword(const Parameters& parameters, PyObject* keyword, PyObject* value) {
  const Signature& signature = *parameters.signature;
  const std::size_t i = find_parameter(parameters, keyword);
  if (i == signature.count && keywords_ != nullptr) return PyDict_SetItem(keywords_, keyword, value) == 0;
  if (i == signature.count) {
    set_unexpected_keyword(signature, keyword);
    return false;
  }
  if (values()[i] != nullptr) {
    set_argument_given_twice(signature, i);
    return false;
  }
  values()[i] = value;
  return true;
}

bool BoundArguments::bind_defaults(const Parameters& parameters, const CallArguments& given) {
  for (std::size_t i = static_cast<std::size_t>(std::min<Py_ssize_t>(given.positional, kMostParameters));
       i < parameters.signature->count; ++i) {
    if (values()[i] == nullptr) values()[i] = parameters.defaults[i];
    if (values()[i] != nullptr) continue;
    set_missing_arguments(*parameters.signature, values());
    return false;
  }
  return true;
}

bool BoundArguments::collect(const Parameters& parameters, const CallArguments& given) {
  const auto first = static_cast<Py_ssize_t>(parameters.signature->positional);
  const Py_ssize_t count = std::max<Py_ssize_t>(given.positional - first, 0);
  collected_ = PyTuple_New(count);
  if (collected_ == nullptr) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyTuple_SET_ITEM(collected_, i, Py_NewRef(given.values[first + i]));
  }
  values()[first] = collected_;
  return true;
}

bool BoundArguments::collect_keywords(const Parameters& parameters) {
  keywords_ = PyDict_New();
  values()[parameters.signature->count - 1] = keywords_;
  return keywords_ != nullptr;
}

}  // namespace backslice::python
