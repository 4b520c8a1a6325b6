// Tensors of PyTorch on a CUDA device, viewed in place through DLPack's functions in C, and arrays of CuPy, through
// their attributes, in a fraction of the time that __dlpack__ takes: that is more than a small gradient does.
#pragma once

#include <memory>

#include "bindings/dlpack.h"

namespace backslice::python {

// Null where there is no call that takes devices, and for everything but plain tensors: those go by the protocols,
// which know what to say. May run code of PyTorch's.
std::shared_ptr<const DlpackArray> import_known_tensor(nb::handle object, const char* argument, CallContext* call);

// A new contiguous tensor of a plain tensor's dtype and device, uninitialised, and its memory; not valid where this
// way, which is the quickest, cannot be taken. Raises what PyTorch raises.
nb::object new_known_tensor(nb::handle like, const ConstView& view_of_like, const Shape& shape, View& view);

// Makes the names of attributes that tensors are asked for. Called once, at import.
void learn_names();

}  // namespace backslice::python
