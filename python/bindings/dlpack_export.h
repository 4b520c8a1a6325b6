// Memory of ours for other libraries, as DLPack capsules.
#pragma once

#include <memory>

#include "backslice/view.h"
#include "bindings/dlpack_abi.h"
#include "bindings/dtypes.h"

namespace backslice::python {

// What keeps exported memory alive, and where it is.
struct ExportOwner {
  nb::object array, guard;
  std::shared_ptr<void> last_use;  // goes before them, when the consumer is done with it
};

// A capsule of version 1 with these flags, or without `versioned` one of those before, which have none. Raises
// DTypeError for elements that DLPack has no code for.
nb::object export_dlpack(const View& view, nb::handle numpy_dtype, const ElementType& type, ExportOwner owner,
                         bool versioned, std::uint64_t flags);

}  // namespace backslice::python
