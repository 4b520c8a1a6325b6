// TensorFlow's registry of kernels: which kernel it would take, and how to change its mind.
//
// A registration holds until the process ends, and the C interface has no way to take it back. The priority that
// decides between two kernels is looked up at every choice, though, in the registry's own KernelDef. TensorFlow hands
// out that object through FindKernelDef, which is C++, so it is looked for by name at run time. Where a version does
// not have it, or keeps the priority elsewhere, nothing is touched.
#pragma once

#include <cstdint>
#include <string>

#include "backslice/result.h"

namespace backslice::tensorflow {

/// The kernel that TensorFlow takes for an op whose attribute T is `type`.
struct KernelInUse {
  std::string class_name;
  std::byte* definition = nullptr;  ///< The registry's KernelDef.
};

Result<KernelInUse> kernel_in_use(const char* op, int type);

/// Where the KernelDef keeps its priority, which is known to be `priority`: an unusual number.
Result<std::int32_t*> find_priority(const KernelInUse& kernel, std::int32_t priority);

}  // namespace backslice::tensorflow
