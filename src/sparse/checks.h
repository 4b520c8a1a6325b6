// The checks that the sparse operations share.
#pragma once

#include "backslice/context.h"
#include "backslice/coo_indices.h"
#include "backslice/ints.h"
#include "backslice/view.h"
#include "ops/call.h"

namespace backslice {

// Values have an axis of entries.
Status check_rows(const ConstView& values, const char* argument);

// A list with one item for each of the `rank` things that `of` names.
Status check_length(Ints list, const char* argument, int rank, const char* of);

// A size for each column, none negative.
Status check_size(Ints size, int rank);

// An output shares no memory with a list of indices.
Status check_apart(const View& out, const char* argument, const CooIndices& indices, const char* indices_argument);

// Indices on the device of the values, and, where that is not the CPU, in its memory.
Status check_indices(const CooIndices& indices, const char* argument, Device device, const char* values_argument);

// A status that the device is to write is in its memory.
Status check_device_status(const Context& context, Device device);

// A call on a device waits for what was found there, unless it has a status to leave that in. Refuses a stream that is
// being captured where the call would wait. For calls that have queued nothing yet: the capture stays valid.
void refuse_captured_wait(const DeviceStatus* status, const Call& call);

// The bytes that one row of indices and values takes, if there are any.
std::int64_t row_bytes(const CooIndices& indices, const ConstView& values);

}  // namespace backslice
