// Loops on TensorFlow's own threads.
#pragma once

#include <unistd.h>

#include <cstdint>

#include "tensorflow/core/framework/device_base.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/platform/threadpool.h"

namespace backslice_tensorflow {

// Whether they are still there: not in a child that was forked after they began, where a loop on them never ends. Asked
// first when a kernel is made.
inline bool are_threads_alive() {
  static const pid_t process = getpid();
  return getpid() == process;
}

// Calls body(i) for each i in [0, count), which takes that many cycles each.
template <class Body>
void parallel_for(tensorflow::OpKernelContext* context, std::int64_t count, std::int64_t cycles, const Body& body) {
  const auto all = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  };
  const auto* threads = context->device()->tensorflow_cpu_worker_threads();
  if (count <= 1 || threads == nullptr || threads->workers == nullptr || !are_threads_alive()) return all(0, count);
  threads->workers->ParallelFor(count, cycles, all);
}

}  // namespace backslice_tensorflow
