// Loops on TensorFlow's own threads.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "absl/status/status.h"
#include "errors.h"
#include "tensorflow/core/framework/device_base.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/threadpool.h"

namespace backslice_tensorflow {

// Whether the threads still exist. They do not in a child that was forked after they began, where a loop on them would
// never end. Called first when a kernel is made.
inline bool are_threads_alive() {
  static const pid_t process = getpid();
  return getpid() == process;
}

// Calls body(i) for each i in [0, count). Each call takes that many cycles.
template <class Body>
void parallel_for(tensorflow::OpKernelContext* context, std::int64_t count, std::int64_t cycles, const Body& body) {
  const auto all = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  };
  const auto* threads = context->device()->tensorflow_cpu_worker_threads();
  if (count <= 1 || threads == nullptr || threads->workers == nullptr || !are_threads_alive()) return all(0, count);
  threads->workers->ParallelFor(count, cycles, all);
}

constexpr std::int64_t kBatch = 256;

inline std::int64_t batches_of(std::int64_t count) { return (count + kBatch - 1) / kBatch; }

// Calls body(begin, end) for each batch of [0, count), with items of that many cycles. Returns the error of the first
// batch that has one, whichever thread was faster. No exception reaches TensorFlow's threads.
template <class Body>
absl::Status for_each_batch(tensorflow::OpKernelContext* context, std::int64_t count, std::int64_t cycles,
                            const Body& body) {
  auto* const cancellation = context->cancellation_manager();
  std::vector<absl::Status> results(static_cast<std::size_t>(batches_of(count)));
  parallel_for(context, batches_of(count), cycles, [&](std::int64_t batch) {
    absl::Status& result = results[static_cast<std::size_t>(batch)];
    const std::int64_t begin = batch * kBatch, end = std::min(begin + kBatch, count);
    try {
      const bool is_cancelled = cancellation != nullptr && cancellation->IsCancelled();
      result = is_cancelled ? absl::CancelledError("the step was cancelled") : body(begin, end);
    } catch (const std::bad_alloc&) {
      result = resource_exhausted("there is not enough memory for ", count, " pieces");
    }
  });
  for (const absl::Status& result : results) TF_RETURN_IF_ERROR(result);
  return absl::OkStatus();
}

}  // namespace backslice_tensorflow
