// Exports our memory to other libraries, as DLPack capsules.
#pragma once

#include <memory>

#include "backslice/view.h"
#include "bindings/dlpack_abi.h"
#include "bindings/dtypes.h"

namespace backslice::python {

// The owner of exported memory, and its device.
struct ExportOwner {
  nb::object array, guard;
  std::shared_ptr<void> last_use;  // destroyed before them, when the consumer is done
};

// Makes a capsule of version 1 with these flags; without `versioned`, an older one, which has no flags. Raises
// DTypeError for elements without a DLPack code.
nb::object export_dlpack(const View& view, nb::handle numpy_dtype, const ElementType& type, ExportOwner owner,
                         bool versioned, std::uint64_t flags);

}  // namespace backslice::python
