// The base of all kernels here: a kernel counts its calls and returns an error, and running out of memory is one.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <new>
#include <string>

#include "absl/status/status.h"
#include "errors.h"
#include "parallel.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/platform/mutex.h"

namespace backslice_tensorflow {

using tensorflow::DataType;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;

// The number of an op's calls. Nodes of self-tests are not counted.
inline std::atomic<std::int64_t>& calls_of(const std::string& op) {
  static tensorflow::mutex mutex;
  static auto* const calls =
      new std::map<std::string, std::atomic<std::int64_t>>;  // kernels may outlive static objects
  const tensorflow::mutex_lock lock(mutex);
  return (*calls)[op];
}

class Kernel : public tensorflow::OpKernel {
 public:
  explicit Kernel(OpKernelConstruction* made)
      : OpKernel(made), calls_(calls_of(made->HasAttr("_backslice_test") ? "" : type_string())) {
    are_threads_alive();
  }

  void Compute(OpKernelContext* context) final {
    calls_.fetch_add(1, std::memory_order_relaxed);
    try {
      OP_REQUIRES_OK(context, run(context));
    } catch (const std::bad_alloc&) {
      OP_REQUIRES_OK(context, resource_exhausted(type_string(), ": there is not enough memory"));
    }
  }

 protected:
  virtual absl::Status run(OpKernelContext* context) = 0;

 private:
  std::atomic<std::int64_t>& calls_;
};

}  // namespace backslice_tensorflow
