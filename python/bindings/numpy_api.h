// NumPy's C API, one copy of its table for all files of the module.
#pragma once

#include <nanobind/nanobind.h>

#define PY_ARRAY_UNIQUE_SYMBOL backslice_numpy_api
#ifndef BACKSLICE_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

namespace backslice::python {

inline PyArrayObject* as_array(nanobind::handle object) { return reinterpret_cast<PyArrayObject*>(object.ptr()); }

}  // namespace backslice::python
