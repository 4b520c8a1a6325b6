// Sparse slices on CUDA devices: finding rows, then moving them. For code that is compiled with and without CUDA.
//
// Everything is queued, and nothing waits but what says so. What depends on the indices' values is checked on the
// device: rows are moved only where all is as it should be.
#pragma once

#include "backslice/context.h"
#include "backslice/coo_indices.h"
#include "backslice/device_status.h"
#include "backslice/ints.h"
#include "backslice/tensor.h"
#include "kernels/cuda/memory.h"

namespace backslice::cuda {

// Which rows were found, in memory of the device. `status`, wherever it is taken, gets the outcome, unless it is null.
class DeviceFound {
 public:
  // In TensorFlow's order, or the n-th to the n-th; all rows of the slice must be found. The second waits for the
  // device where the slice's rows are not the rows in their box, one by one.
  static DeviceFound in_order(const CooIndices& input, Ints start, const CooIndices& output, const Workspace& workspace,
                              DeviceStatus* status);
  static DeviceFound in_any_order(const CooIndices& input, Ints start, const CooIndices& output,
                                  const Workspace& workspace, DeviceStatus* status);

  // The rows in a window, which must be as many as `expected`, unless that is kAnyNumber.
  static constexpr std::int64_t kAnyNumber = -1;
  static DeviceFound in_window(const CooIndices& input, Ints start, Ints size, std::int64_t expected,
                               const Workspace& workspace, DeviceStatus* status);

  // What was found. Waits for the device.
  DeviceStatus outcome(DeviceStream queue) const;

  // out[i] from grad[slice row of i]. Precondition: as the CPU's.
  void write_gradient(const ConstView& grad, const View& out, Write write, DeviceStream queue) const;

  // values[i] and indices[i] - start to the row's place in the slice.
  void write_slice(const CooIndices& indices, Ints start, const ConstView& values, const View& out_indices,
                   const View& out_values, DeviceStream queue) const;

 private:
  DeviceFound(std::int64_t rows, std::int64_t slice_rows, const Workspace& workspace);

  Buffer memory_;                                    // of a Found
  Buffer joined_;                                    // an int32 per input row, or nothing
  [[maybe_unused]] std::int64_t rows_, slice_rows_;  // not in the stub
};

}  // namespace backslice::cuda
