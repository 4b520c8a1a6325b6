#define BACKSLICE_IMPORTS_NUMPY
#include "bindings/module.h"

#include "backslice/version.h"
#include "bindings/dtypes.h"

NB_MODULE(_core, m) {
  if (_import_array() < 0) nanobind::raise_python_error();
  backslice::python::learn_ml_dtypes();
  m.attr("__version__") = BACKSLICE_VERSION;
  backslice::python::bind_selection(m);
  backslice::python::bind_slices(m);
}
