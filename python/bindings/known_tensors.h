// Tensors of PyTorch on a CUDA device, viewed in place through DLPack's functions in C, and arrays of CuPy, through
// their attributes, in a fraction of the time that __dlpack__ takes: that is more than a small gradient does.
#pragma once

#include <memory>

#include "bindings/arrays.h"
#include "bindings/dlpack.h"

namespace backslice::python {

struct ExchangeApi;

// Null where there is no call that takes devices, and for everything but plain tensors: those go by the protocols,
// which know what to say. May run code of PyTorch's.
std::shared_ptr<const DlpackArray> import_known_tensor(nb::handle object, const char* argument, CallContext* call);

// Views arrays that differ from a first one in their memory, their shape and their strides alone. A long list of them
// is read in a fraction of the time.
class SimilarTensors {
 public:
  SimilarTensors() = default;  // views none

  // Views none unless the first array, which was read before, is one that import_known_tensor takes.
  SimilarTensors(nb::handle first, const InputArray& as_read);

  // Returns false, and changes nothing, for an array of another class, dtype or device, and where anything is not as
  // expected. May run code of the library.
  bool view(nb::handle object, const char* argument, ConstView& view) const;

 private:
  const PyTypeObject* class_ = nullptr;
  const ExchangeApi* api_ = nullptr;  // null for CuPy
  nb::object numpy_dtype_;
  ElementType type_;
  Device device_;
};

// A new contiguous tensor of a plain tensor's dtype and device, uninitialised, and its memory; not valid where this
// way, which is the quickest, cannot be taken. Raises what PyTorch raises.
nb::object new_known_tensor(nb::handle like, const ConstView& view_of_like, const Shape& shape, View& view);

// Makes the names of attributes that tensors are asked for. Called once, at import.
void learn_names();

}  // namespace backslice::python
