// Arrays of other libraries, viewed in place through DLPack.
//
// So are those of CUDA devices, for the functions that run there: they pass their CallContext.
//
// What an exporter says is read and checked as a whole before anything is trusted: it may be wrong about its device,
// hand out one capsule twice, or describe memory that cannot exist.
#pragma once

#include <memory>
#include <string>

#include "backslice/view.h"
#include "bindings/call_context.h"
#include "bindings/dlpack_abi.h"
#include "bindings/dtypes.h"

namespace backslice::python {

struct DlpackArray {
  std::shared_ptr<void> owner;  // keeps the exporter's memory alive; let go of it with the GIL held
  nb::object numpy_dtype;
  ElementType type;
  ConstView view;
  bool is_versioned = false;  // version 1 or later, which tells the rest
  bool is_read_only = false, is_copy = false;
};

// Whether the object has __dlpack__ and, as far as its dtype tells, elements that DLPack carries. Some exporters end
// the process when they are asked for others: TensorFlow for strings, variants and resources.
bool exports_dlpack(nb::handle object);

// What __dlpack__ returns; not valid, and `failure` says why, when it raises an ordinary error. Raises
// InvalidArgumentError for arrays that are not on the CPU, or where there is a `call`, on a CUDA device.
nb::object dlpack_capsule(nb::handle object, const char* argument, std::string& failure, CallContext* call = nullptr);

// The same for memory that is to be written to. Exporters that know version 1 are asked for it: it tells whether that
// is allowed.
nb::object writable_dlpack_capsule(nb::handle object, const char* argument, std::string& failure,
                                   CallContext* call = nullptr);

// The array in a capsule, which is used up. Raises InvalidArgumentError for what is no such capsule or cannot be
// viewed, DTypeError for element types that NumPy does not have; then the capsule stays as it was.
DlpackArray import_dlpack(nb::handle capsule, const char* argument, const CallContext* call = nullptr);

// What a tensor describes, after a check that it can be. Raises InvalidArgumentError where it cannot.
ConstView view_of(const nb::dlpack::dltensor& tensor, const ElementType& type, const char* argument);

// Keeps an object alive, until it is let go of with the GIL held.
std::shared_ptr<void> kept(nb::handle object);

// An array of a CUDA device that has __cuda_array_interface__ alone; null where it has not.
std::shared_ptr<const DlpackArray> import_cuda_interface(nb::handle object, const char* argument, CallContext& call);

}  // namespace backslice::python
