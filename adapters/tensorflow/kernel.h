// Kernels: classes that TensorFlow makes from the attributes of a node, and runs.
//
//     class Doubled {
//      public:
//       explicit Doubled(const Attributes& attributes);      // may throw
//       Status compute(Call& call) const;                    // may throw; several threads may run it at once
//     };
//     TF_KernelBuilder* builder = kernel_builder<Doubled>("Double");
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "call.h"
#include "core/boundary.h"
#include "status.h"

namespace backslice::tensorflow {

/// Registers a kernel under a name, for nodes whose attribute T is one of `types`. Takes the builder.
Status register_kernel(const char* op, const std::string& types, std::int32_t priority, const char* name,
                       TF_KernelBuilder* builder);

/// The attributes of a node. Throws where one is missing.
class Attributes {
 public:
  explicit Attributes(TF_OpKernelConstruction* construction) : construction_(construction) {}

  std::int32_t integer(const char* name) const;
  std::vector<std::int32_t> integers(const char* name) const;

 private:
  TF_OpKernelConstruction* construction_;
};

namespace detail {

void* refused(TF_OpKernelConstruction* construction, const Status& status);
void report(TF_OpKernelContext* context, const Status& status);

template <class Kernel>
void* create(TF_OpKernelConstruction* construction) {
  try {
    return new Kernel(Attributes(construction));
  } catch (...) {
    return refused(construction, status_of_current_exception());
  }
}

template <class Kernel>
void compute(void* kernel, TF_OpKernelContext* context) {
  try {
    Call call(context);
    const Status status = static_cast<const Kernel*>(kernel)->compute(call);
    if (!status.ok()) report(context, status);
  } catch (...) {
    report(context, status_of_current_exception());
  }
}

template <class Kernel>
void destroy(void* kernel) {
  delete static_cast<Kernel*>(kernel);
}

}  // namespace detail

template <class Kernel>
TF_KernelBuilder* kernel_builder(const char* op) {
  return TF_NewKernelBuilder(op, "CPU", detail::create<Kernel>, detail::compute<Kernel>, detail::destroy<Kernel>);
}

}  // namespace backslice::tensorflow
