#define BACKSLICE_IMPORTS_NUMPY
#include "bindings/module.h"

#include "backslice/version.h"
#include "bindings/dtypes.h"
#include "bindings/errors.h"
#include "bindings/interruption.h"
#include "bindings/known_tensors.h"
#include "bindings/objects.h"
#include "bindings/package.h"
#include "bindings/short_calls.h"
#include "bindings/signatures.h"
#include "core/boundary.h"

namespace {

// What bound functions throw and nanobind knows nothing of. No exception at all stands for a thread that Python ends
// (gil.h): call_python has not been in between, and its references are gone, but the process shall end in good order.
void translate(const std::exception_ptr& thrown, void*) {
  if (thrown == nullptr) backslice::python::sleep_until_the_process_ends();
  try {
    std::rethrow_exception(thrown);
  } catch (const backslice::StatusException& ended) {
    backslice::python::set_error(ended.status());
  } catch (const std::exception&) {
    throw;  // nanobind knows it
  } catch (...) {
    // The library's functions that return no error throw only where there is no memory. In a wheel the library has
    // a C++ runtime of its own, whose std::bad_alloc is not the one of this module.
    backslice::python::set_error(backslice::Status(backslice::StatusCode::ResourceExhausted, "out of memory"));
  }
}

}  // namespace

nanobind::object backslice::python::picture_of(nanobind::handle object, const char* format) {
  return call_with(registered("picture_of"), nanobind::make_tuple(object, format));
}

NB_MODULE(_core, m) {
  if (_import_array() < 0) nanobind::raise_python_error();
  nanobind::set_leak_warnings(false);  // objects alive at exit are the user's business
  nanobind::register_exception_translator(translate);
  backslice::be_ready_to_throw();
  backslice::python::learn_ml_dtypes();
  backslice::python::learn_main_thread();
  backslice::python::learn_names();
  m.attr("__version__") = BACKSLICE_VERSION;
  backslice::python::bind_registration(m);
  backslice::python::bind_selection(m);
  backslice::python::bind_notations(m);
  backslice::python::bind_pictures(m);
  backslice::python::bind_prepared_slices(m);
  backslice::python::bind_slices(m);
  backslice::python::bind_multi_slices(m);
  backslice::python::bind_grad_buffers(m);
  backslice::python::bind_ragged_tensors(m);
  backslice::python::bind_sparse_slices(m);
  backslice::python::bind_tensor_arrays(m);
  backslice::python::bind_runtime(m);
  backslice::python::bind_bus_error(m);
  backslice::python::bind_device_arrays(m);
  backslice::python::bind_dlpack_export(m);
  backslice::python::bind_dtypes(m);
#ifdef BACKSLICE_FAULT_INJECTION
  backslice::python::bind_faults(m);
#endif
  backslice::python::bind_short_calls();
  backslice::python::install_signatures(m);
}
