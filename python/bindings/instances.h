// The C++ objects inside Python objects.
#pragma once

#include <nanobind/nanobind.h>

namespace backslice::python {

// Returns the object inside an instance of a bound class; null for other objects, and for instances that only __new__
// has made.
template <class T>
T* find_instance(nanobind::handle object) {
  if (!nanobind::isinstance<T>(object) || !nanobind::inst_ready(object)) return nullptr;
  return nanobind::inst_ptr<T>(object);
}

}  // namespace backslice::python
