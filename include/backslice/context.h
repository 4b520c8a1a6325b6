/// @file
/// Context: where an operation runs, where its memory comes from, and who may end it early. Write: how it writes into
/// memory that the caller owns.
///
///     Result<Tensor> dx = slice_grad(s, dy);                                                     // the defaults
///     Result<Tensor> dx = slice_grad(s, dy, {.executor = &my_pool, .allocator = &my_arena});
///     Status filled = slice_grad_into(s, dy, out, {.stop = token});                              // a std::stop_token
///     Status added = slice_grad_into(s, dy, out, Write::Accumulate, {.cancelled = &asked});
///
/// Results do not depend on the Context. One Context may serve any number of calls, concurrent or not; what it points
/// to must outlive them. It is the last argument, and arguments with defaults before it can be left out.
#pragma once

#include <version>
#ifdef __cpp_lib_jthread
#include <stop_token>
#endif

#include "backslice/allocator.h"
#include "backslice/device_status.h"
#include "backslice/executor.h"

namespace backslice {

/// The executor of a call, the allocator of its results, and its cancellation.
struct Context {
  Executor* executor = nullptr;              ///< Null: default_executor().
  Allocator* allocator = nullptr;            ///< Null: pool_allocator(); on CUDA: cuda_allocator() of the stream below.
  const CancelledTest* cancelled = nullptr;  ///< Null: never. Small operations do not ask: see there.
  CudaStream stream = nullptr;               ///< For arguments on CUDA: what the operation is queued on.
  DeviceStatus* device_status = nullptr;     ///< In memory of that device: see there. Null: wait for such checks.
#ifdef __cpp_lib_jthread
  std::stop_token stop = {};  ///< Asked beside `cancelled`: of a std::jthread, say. Default: no stop is possible.
#endif
};

/// How a gradient is written into memory that the caller owns.
enum class Write {
  /// All of out: dy where selected, zero elsewhere.
  Overwrite,
  /// The caller promises that out is zero. The result is the same, without writing zeros.
  IntoZeros,
  /// out[selected] += dy; nothing else is touched. float16, bfloat16 and float8 add in float32 and round to nearest
  /// even; integers wrap. After an error, such as Cancelled, Status::output_written() says whether something was added.
  /// If so, repeating the call would add it twice.
  Accumulate,
};

}  // namespace backslice
