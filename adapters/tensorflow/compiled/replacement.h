// A kernel in front of one of TensorFlow's own, which it keeps: for when ours are switched off, and for calls that ours
// leaves to it. Arguments that TensorFlow refuses are among those, so that the error is in its own words.
#pragma once

#include <atomic>
#include <memory>
#include <new>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "builtin.h"
#include "errors.h"
#include "parallel.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace backslice_tensorflow {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;

inline std::atomic<bool>& is_enabled() {
  static std::atomic<bool> enabled{true};
  return enabled;
}

enum class Done { Yes, LeftToBuiltin };

class Replacement : public tensorflow::OpKernel {
 public:
  explicit Replacement(OpKernelConstruction* made) : OpKernel(made) {
    const auto type = [&](std::initializer_list<const char*> names, DataType otherwise) {
      for (const char* name : names) {
        if (made->HasAttr(name) && made->GetAttr(name, &otherwise).ok()) break;
      }
      return otherwise;
    };
    Factory* factory = builtins().find(type_string(), type({"T", "dtype", "Tvalues"}, tensorflow::DT_FLOAT),
                                       type({"Tsplits"}, tensorflow::DT_INT64));
    if (factory != nullptr) builtin_.reset(factory->Create(made));
    are_threads_alive();
  }

  void Compute(OpKernelContext* context) final {
    const bool is_on = is_enabled().load(std::memory_order_relaxed);
    if (is_on) {
      const auto done = run_caught(context);
      OP_REQUIRES_OK(context, done.status());
      if (*done == Done::Yes) return;
    }
    OP_REQUIRES(
        context, builtin_ != nullptr,
        invalid_argument(type_string(), is_on ? ": the arguments do not fit each other" : ": backslice is switched off",
                         "; TensorFlow has no kernel of its own for these types"));
    builtin_->Compute(context);
  }

  bool IsExpensive() override { return builtin_ == nullptr || builtin_->IsExpensive(); }

 protected:
  virtual absl::StatusOr<Done> run(OpKernelContext* context) = 0;

 private:
  absl::StatusOr<Done> run_caught(OpKernelContext* context) {
    try {
      return run(context);
    } catch (const std::bad_alloc&) {
      return resource_exhausted(type_string(), ": there is not enough memory");
    }
  }

  std::unique_ptr<tensorflow::OpKernel> builtin_;
};

}  // namespace backslice_tensorflow
