// Kernels: classes that TensorFlow makes from the attributes of a node, and runs.
//
//     class Doubled {
//      public:
//       explicit Doubled(const Attributes& attributes);      // may throw
//       void compute(Call& call) const;                      // may throw; several threads may run it at once
//     };
//     register_kernel<Doubled>("Double", all_types());
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "call.h"
#include "core/boundary.h"
#include "status.h"

namespace backslice::tensorflow {

/// The attributes of a node. Missing numbers throw.
class Attributes {
 public:
  explicit Attributes(TF_OpKernelConstruction* construction) : construction_(construction) {}

  bool has(const char* name) const;
  std::int32_t integer(const char* name) const;
  std::vector<std::int32_t> integers(const char* name) const;

 private:
  TF_OpKernelConstruction* construction_;
};

namespace detail {

void report(TF_OpKernelConstruction* construction, const Status& status);
void report(TF_OpKernelContext* context, const Status& status);

/// Takes the builder.
void register_builder(const std::string& op, const std::string& types, const std::string& label,
                      TF_KernelBuilder* builder);

template <class Kernel>
void* create(TF_OpKernelConstruction* construction) {
  try {
    return new Kernel(Attributes(construction));
  } catch (...) {
    report(construction, status_of_current_exception());
    return nullptr;
  }
}

template <class Kernel>
void compute(void* kernel, TF_OpKernelContext* context) {
  try {
    Call call(context);
    static_cast<const Kernel*>(kernel)->compute(call);
  } catch (...) {
    report(context, status_of_current_exception());
  }
}

template <class Kernel>
void destroy(void* kernel) {
  delete static_cast<Kernel*>(kernel);
}

}  // namespace detail

/// Registers a CPU kernel for nodes whose attribute T is one of `types`, a byte each. It comes before TensorFlow's own;
/// with a label, TensorFlow takes it only for nodes whose attribute _kernel is that label. Holds until the process
/// ends. Throws if TensorFlow refuses it.
template <class Kernel>
void register_kernel(const char* op, const std::string& types, const std::string& label = "") {
  detail::register_builder(
      op, types, label,
      TF_NewKernelBuilder(op, "CPU", detail::create<Kernel>, detail::compute<Kernel>, detail::destroy<Kernel>));
}

}  // namespace backslice::tensorflow
