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

// Translates exceptions that nanobind does not know. A forced unwind of a thread that Python ends has no exception
// (gil.h): call_python was not in between, and its references are gone, but the process must still end cleanly.
void translate(const std::exception_ptr& thrown, void*) {
  if (thrown == nullptr) backslice::python::sleep_until_the_process_ends();
  try {
    std::rethrow_exception(thrown);
  } catch (const backslice::StatusException& ended) {
    backslice::python::set_error(ended.status());
  } catch (const std::exception&) {
    throw;  // nanobind translates it
  } catch (...) {
    // The library's functions without a Status throw only if memory is short. In a wheel, the library has a C++ runtime
    // of its own, whose std::bad_alloc is not this module's.
    backslice::python::set_error(backslice::Status(backslice::StatusCode::ResourceExhausted, "out of memory"));
  }
}

}  // namespace

nanobind::object backslice::python::picture_of(nanobind::handle object, const char* format) {
  return call_with(registered("picture_of"), nanobind::make_tuple(object, format));
}

NB_MODULE(_core, m) {
  if (_import_array() < 0) nanobind::raise_python_error();
  nanobind::set_leak_warnings(false);  // objects that are alive at exit are not reported
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
  backslice::python::bind_small_slices(m);
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
