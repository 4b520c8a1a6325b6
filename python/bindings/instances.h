// The C++ objects in Python's.
#pragma once

#include <nanobind/nanobind.h>

namespace backslice::python {

// What an instance of a bound class holds; null where the object is something else, or was made by __new__ alone.
template <class T>
T* find_instance(nanobind::handle object) {
  if (!nanobind::isinstance<T>(object) || !nanobind::inst_ready(object)) return nullptr;
  return nanobind::inst_ptr<T>(object);
}

}  // namespace backslice::python
