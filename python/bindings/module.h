// The functions with which each file adds its part to the module.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/gil.h"

// A parameter accepts any object, including None: the function that reads it raises errors. Names and defaults are the
// stub's (signatures.h).
template <>
struct nanobind::detail::has_arg_defaults<nanobind::handle> : std::true_type {};

namespace backslice::python {

// Returns the picture that the package draws of an object, "svg" or "html", for notebooks.
nanobind::object picture_of(nanobind::handle object, const char* format);

void bind_bus_error(nanobind::module_& m);
void bind_device_arrays(nanobind::module_& m);
void bind_dlpack_export(nanobind::module_& m);
void bind_dtypes(nanobind::module_& m);
void bind_faults(nanobind::module_& m);
void bind_grad_buffers(nanobind::module_& m);
void bind_multi_slices(nanobind::module_& m);
void bind_notations(nanobind::module_& m);
void bind_pictures(nanobind::module_& m);
void bind_prepared_slices(nanobind::module_& m);
void bind_ragged_tensors(nanobind::module_& m);
void bind_runtime(nanobind::module_& m);
void bind_selection(nanobind::module_& m);
void bind_slices(nanobind::module_& m);
void bind_small_slices(nanobind::module_& m);
void bind_sparse_slices(nanobind::module_& m);
void bind_tensor_arrays(nanobind::module_& m);

}  // namespace backslice::python
