// Checks that the sparse operations share.
#pragma once

#include "backslice/context.h"
#include "backslice/coo_indices.h"
#include "backslice/ints.h"
#include "backslice/view.h"
#include "ops/call.h"

namespace backslice {

// Checks that values have an axis of entries.
Status check_rows(const ConstView& values, const char* argument);

// Checks that a list has one item for each column of the indices, which are `indices_argument`.
Status check_length(Ints list, const char* argument, int rank, const char* indices_argument);

// Checks that there is a size for each column, and that none is negative.
Status check_size(Ints size, int rank, const char* indices_argument);

// Checks that an output shares no memory with a list of indices.
Status check_apart(const View& out, const char* argument, const CooIndices& indices, const char* indices_argument);

// Checks that indices are on the device of the values and, unless that is the CPU, in its memory.
Status check_indices(const CooIndices& indices, const char* argument, Device device, const char* values_argument);

// Checks that a status that the device will write is in the device's memory.
Status check_device_status(const Context& context, Device device);

// Refuses a stream that is being captured if the call would wait. A call on a device waits for its outcome, unless it
// has a device status to store it in. Precondition: the call has queued nothing yet, so the capture stays valid.
void refuse_captured_wait(const DeviceStatus* status, const Call& call);

// Returns the bytes that one row of indices and values takes.
std::int64_t row_bytes(const CooIndices& indices, const ConstView& values);

}  // namespace backslice
