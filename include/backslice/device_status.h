/// @file
/// DeviceStatus: what an operation on a device finds out about its data, for callers that do not want to wait for it.
///
/// Some checks need the values of indices, which only the device can read: whether all gradients of a sparse slice are
/// used, for instance. An operation that makes its result waits for them, and so does one that fills the caller's
/// memory, unless the Context has a DeviceStatus. Then nothing waits: the status is written when the device gets there,
/// and where it says refused, nothing else was written.
///
///     Context context{.stream = stream, .device_status = status};      // in memory of the device
///     Status queued = sparse_slice_grad_into(grad, indices, start, y_indices, out, order, write, context);
///     ...                                                               // copy it back whenever that is convenient
///     Status done = to_status(copied);
#pragma once

#include <cstdint>

#include "backslice/export.h"
#include "backslice/status.h"

namespace backslice {

/// The outcome of a check on a device.
struct DeviceStatus {
  std::int64_t refused = 0;   ///< 1 where the numbers differ; the operation has written nothing then.
  std::int64_t found = 0;     ///< Rows that were found: used gradients, entries in a window.
  std::int64_t expected = 0;  ///< Rows that had to be.
};

/// Returns Internal, as TensorFlow's SparseSliceGrad does, if the status says refused.
BACKSLICE_EXPORT Status to_status(const DeviceStatus& status);

}  // namespace backslice
