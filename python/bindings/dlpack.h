// Arrays of other libraries, viewed in place through DLPack; with a CallContext, also arrays on CUDA devices.
//
// The exporter's data is read and checked as a whole before any of it is used: it may have the wrong device, one
// capsule may be handed out twice, or the memory may be impossible.
#pragma once

#include <memory>
#include <string>

#include "backslice/view.h"
#include "bindings/call_context.h"
#include "bindings/dlpack_abi.h"
#include "bindings/dtypes.h"

namespace backslice::python {

struct DlpackArray {
  std::shared_ptr<void> owner;  // keeps the exporter's memory alive; released with the GIL held
  nb::object numpy_dtype;
  ElementType type;
  ConstView view;
  bool is_versioned = false;  // version 1 or later, which reports the rest
  bool is_read_only = false, is_copy = false;
};

// Returns whether the object has __dlpack__ and, if its dtype is known, elements that DLPack carries. Some exporters
// end the process for other elements: TensorFlow for strings, variants and resources.
bool exports_dlpack(nb::handle object);

// Returns the result of __dlpack__. If it raises an ordinary error, the result is not valid and `failure` has the
// reason. Raises InvalidArgumentError for arrays that are on neither the CPU nor, with `call`, a CUDA device.
nb::object dlpack_capsule(nb::handle object, const char* argument, std::string& failure, CallContext* call = nullptr);

// The same for memory to be written. Exporters that know version 1 are asked for it, since it reports whether writing
// is allowed.
nb::object writable_dlpack_capsule(nb::handle object, const char* argument, std::string& failure,
                                   CallContext* call = nullptr);

// Consumes a capsule and returns its array. Raises InvalidArgumentError if it is not a DLPack capsule or cannot be
// viewed, DTypeError for element types that NumPy does not have; then the capsule is unchanged.
DlpackArray import_dlpack(nb::handle capsule, const char* argument, const CallContext* call = nullptr);

// Returns a checked view of the memory that a tensor describes. Raises InvalidArgumentError if the description is
// impossible.
ConstView view_of(const nb::dlpack::dltensor& tensor, const ElementType& type, const char* argument);

// Keeps an object alive, and releases it with the GIL held.
std::shared_ptr<void> kept(nb::handle object);

// Returns an array on a CUDA device that has only __cuda_array_interface__; null for other objects.
std::shared_ptr<const DlpackArray> import_cuda_interface(nb::handle object, const char* argument, CallContext& call);

}  // namespace backslice::python
