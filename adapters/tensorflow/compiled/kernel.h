// The base of all kernels here: a kernel returns an error, and running out of memory is one.
#pragma once

#include <new>

#include "absl/status/status.h"
#include "errors.h"
#include "parallel.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace backslice_tensorflow {

using tensorflow::DataType;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;

class Kernel : public tensorflow::OpKernel {
 public:
  explicit Kernel(OpKernelConstruction* made) : OpKernel(made) { are_threads_alive(); }

  void Compute(OpKernelContext* context) final {
    try {
      OP_REQUIRES_OK(context, run(context));
    } catch (const std::bad_alloc&) {
      OP_REQUIRES_OK(context, resource_exhausted(type_string(), ": there is not enough memory"));
    }
  }

 protected:
  virtual absl::Status run(OpKernelContext* context) = 0;
};

}  // namespace backslice_tensorflow
