// Addition: how rows of a dtype are added, chosen in one place.
#pragma once

#include "core/items.h"
#include "kernels/cpu/rows.h"

namespace backslice {

// Adds dense rows, by vectors where the dtype has them, else element by element; null where elements cannot be added.
inline AddRow addition_of(DType dtype, const RowKernels& rows) {
  const AddRow by_vectors = rows.add[static_cast<int>(dtype)];
  return by_vectors != nullptr ? by_vectors : operations_of(dtype).add;
}

}  // namespace backslice
