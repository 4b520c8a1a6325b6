#include "replacements.h"

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "data_types.h"
#include "kernel.h"
#include "kernel_registry.h"
#include "sparse_slice.h"
#include "strided_slice.h"

namespace backslice::tensorflow {
namespace {

// TensorFlow's own kernels have priority 0. Unusual, so that it can be recognised in memory.
constexpr std::int32_t kInUse = 0x0BAC511C;
constexpr std::int32_t kNotInUse = -kInUse;

std::mutex mutex;
std::vector<std::int32_t*> priorities;  // none: not registered, or not found
bool is_registered = false;
std::atomic<bool> are_in_use = false;

// Out of use, TensorFlow still comes to us for the types that it has no kernel for itself.
template <class Kernel>
void* create_if_in_use(TF_OpKernelConstruction* construction) {
  if (are_in_use) return detail::create<Kernel>(construction);
  constexpr const char* kMessage = "TensorFlow has no kernel for this type, and backslice's is not in use";
  return detail::refused(construction, Status(StatusCode::Unimplemented, kMessage));
}

template <class Kernel>
Status add(const char* op, const std::string& types) {
  TF_KernelBuilder* builder =
      TF_NewKernelBuilder(op, "CPU", create_if_in_use<Kernel>, detail::compute<Kernel>, detail::destroy<Kernel>);
  const std::string name = std::string(kPrefix) + op;
  if (Status added = register_kernel(op, types, kInUse, name.c_str(), builder); !added.ok()) return added;
  const Result<KernelInUse> kernel = kernel_in_use(op, types.front());
  if (!kernel || kernel->class_name != name) return {};
  if (const Result<std::int32_t*> priority = find_priority(*kernel, kInUse)) priorities.push_back(*priority);
  return {};
}

Status register_all() {
  is_registered = true;  // also after a failure: nothing may be registered twice
  if (Status s = add<StridedSliceGrad>("StridedSliceGrad", all_types()); !s.ok()) return s;
  if (Status s = add<StridedSlice>("StridedSlice", types_without_strided_slice()); !s.ok()) return s;
  if (Status s = add<SparseSlice>("SparseSlice", all_types()); !s.ok()) return s;
  return add<SparseSliceGrad>("SparseSliceGrad", all_types());
}

constexpr std::size_t kOps = 4;

void set_priorities(std::int32_t value) {
  for (std::int32_t* priority : priorities) std::atomic_ref(*priority).store(value);
}

}  // namespace

Status install() {
  const std::lock_guard lock(mutex);
  if (!is_registered) {
    if (Status registered = register_all(); !registered.ok()) return registered;
  }
  are_in_use = true;
  set_priorities(kInUse);
  return {};
}

Status uninstall() {
  const std::lock_guard lock(mutex);
  if (!is_registered) return {};
  if (priorities.size() != kOps)
    return {StatusCode::Unimplemented,
            "this version of TensorFlow keeps a kernel until the process ends: start a new one, without install()"};
  set_priorities(kNotInUse);
  are_in_use = false;
  return {};
}

bool is_installed() { return are_in_use; }

}  // namespace backslice::tensorflow
