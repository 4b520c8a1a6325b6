// Moves rows between a sparse tensor's values and those of its slice, as a matcher says.
//
// Each function walks a range of input rows, and the rows of the slice that belong to it: from slice_rows.lo on, and
// never past slice_rows.hi, even if the indices have changed since. Ranges write disjoint memory.
#pragma once

#include "backslice/context.h"
#include "backslice/coo_indices.h"
#include "backslice/device_status.h"
#include "backslice/ints.h"
#include "backslice/tensor.h"
#include "backslice/view.h"
#include "kernels/cpu/kernel_context.h"
#include "kernels/cuda/memory.h"
#include "kernels/sparse/matcher.h"

namespace backslice {

// out[i] = grad[slice row of i], or zero without a slice row. Returns the first row of the slice that was not found.
std::int64_t write_gradient(const Matcher& matcher, Range rows, Range slice_rows, const ConstView& grad,
                            const View& out, const KernelContext& context);

// The same without the zeros: rows without a slice row are not touched.
void write_taken(const Matcher& matcher, Range rows, Range slice_rows, const ConstView& grad, const View& out);

// out[i] += grad[slice row of i]. Precondition: can_add(dtype).
void add_gradient(const Matcher& matcher, Range rows, Range slice_rows, const ConstView& grad, const View& out,
                  const KernelContext& context);

// values[i] and indices[i] - start to the row's place in the slice; zeros for rows that are no longer found.
void write_slice(const Matcher& matcher, Range rows, Range slice_rows, const CooIndices& indices, Ints start,
                 const ConstView& values, const View& out_indices, const View& out_values);

}  // namespace backslice

// -- CUDA devices: first rows are found, then moved.
//
// Everything is queued, and only functions that say so wait. The device checks the conditions that depend on the
// indices' values, and moves rows only if all hold.

namespace backslice::cuda {

// The found rows, in device memory. `status`, unless it is null, gets the outcome.
class DeviceFound {
 public:
  // Finds rows in TensorFlow's order, or the n-th for the n-th; all rows of the slice must be found. The second waits
  // for the device if the slice's rows are not the rows in their box, one by one.
  static DeviceFound in_order(const CooIndices& input, Ints start, const CooIndices& output,
                              const KernelContext& context, DeviceStatus* status);
  static DeviceFound in_any_order(const CooIndices& input, Ints start, const CooIndices& output,
                                  const KernelContext& context, DeviceStatus* status);

  // Finds the rows in a window. Their number must be `expected`, unless that is kAnyNumber.
  static constexpr std::int64_t kAnyNumber = -1;
  static DeviceFound in_window(const CooIndices& input, Ints start, Ints size, std::int64_t expected,
                               const KernelContext& context, DeviceStatus* status);

  // Returns the outcome. Waits for the device.
  DeviceStatus outcome(DeviceStream queue) const;

  // out[i] from grad[slice row of i]. Preconditions: those of the CPU's function.
  void write_gradient(const ConstView& grad, const View& out, Write write, DeviceStream queue) const;

  // values[i] and indices[i] - start to the row's place in the slice.
  void write_slice(const CooIndices& indices, Ints start, const ConstView& values, const View& out_indices,
                   const View& out_values, DeviceStream queue) const;

 private:
  DeviceFound(std::int64_t rows, std::int64_t slice_rows, const KernelContext& context);

  Buffer memory_;                                    // of a Found
  Buffer joined_;                                    // an int32 per input row, or nothing
  [[maybe_unused]] std::int64_t rows_, slice_rows_;  // not in the stub
};

}  // namespace backslice::cuda
