// KernelDef, TensorFlow's description of a kernel, as serialised protocol buffers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace backslice::tensorflow {

/// A kernel for the CPU, for nodes whose attribute T is one of `types` (a byte each). Holds no zero byte, at which
/// TF_RegisterKernelBuilderWithKernelDef would end it. Precondition: priority > 0.
std::string kernel_def(std::string_view op, std::string_view types, std::int32_t priority);

/// A node with that attribute T.
std::string node_def(std::string_view op, int type);

}  // namespace backslice::tensorflow
