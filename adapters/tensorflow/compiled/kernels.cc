// The kernels that are compiled against the installed TensorFlow: its variants and tensor arrays are classes of C++,
// whose layout only its own headers know. One file, since those headers take longer to read than everything here.
//
// python/backslice/tensorflow/compiling.py compiles it, loads it, and calls the functions at its end.
#include "ragged_from_variant.h"
#include "ragged_gradient.h"
#include "ragged_to_variant.h"
#include "tensor_array_checks.h"

namespace backslice_tensorflow {
namespace {

constexpr int kPriority = 1;  // TensorFlow's own have 0

struct Kernel {
  const char* op;
  tensorflow::OpKernel* (*make)(OpKernelConstruction*);
  const char* type;           // the attribute that TensorFlow chooses a kernel by; null: there is none
  bool needs_builtin = true;  // and takes no type that TensorFlow has no kernel for
};

template <class Class>
tensorflow::OpKernel* make(OpKernelConstruction* made) {
  return new Class(made);
}

const Kernel kKernels[] = {
    {"RaggedTensorToVariant", make<RaggedToVariant>, "Tvalues", false},
    {"RaggedTensorFromVariant", make<RaggedFromVariant>, "Tvalues", false},
    {"RaggedTensorToVariantGradient", make<RaggedGradient>, "Tvalues", false},
    {"TensorArrayV3", make<CheckedMake>, "dtype"},
    {"TensorArrayGradV3", make<Checked>, nullptr},
    {"TensorArrayGradWithShape", make<CheckedGradWithShape>, nullptr},
    {"TensorArrayWriteV3", make<CheckedWrite>, "T"},
    {"TensorArrayReadV3", make<CheckedRead>, "dtype"},
    {"TensorArrayGatherV3", make<CheckedGather>, "dtype"},
    {"TensorArrayScatterV3", make<CheckedScatter>, "T"},
    {"TensorArrayConcatV3", make<CheckedConcat>, "dtype"},
    {"TensorArraySplitV3", make<CheckedSplit>, "T"},
};

// Those of TensorFlow's own kernels; for ragged tensors everything that lies in memory as it is, and strings.
std::vector<DataType> types_of(const Kernel& kernel) {
  std::vector<DataType> types;
  for (int number = 1; number < kReferenceTypes; ++number) {
    const auto type = static_cast<DataType>(number);
    if (!tensorflow::DataType_IsValid(number)) continue;
    const bool is_copied = type == tensorflow::DT_STRING || tensorflow::DataTypeCanUseMemcpy(type);
    const bool has_builtin = builtins().find(kernel.op, type, tensorflow::DT_INT64) != nullptr;
    if (kernel.needs_builtin ? has_builtin : is_copied) types.push_back(type);
  }
  return types;
}

void register_kernel(const Kernel& kernel) {
  tensorflow::KernelDefBuilder definition(kernel.op);
  definition.Device(tensorflow::DEVICE_CPU).Priority(kPriority);
  if (kernel.type != nullptr) definition.TypeConstraint(kernel.type, types_of(kernel));
  const std::string name = std::string("Backslice") + kernel.op;  // in TensorFlow's list of kernels
  tensorflow::kernel_factory::OpKernelRegistrar registrar(definition.Build(), name, kernel.make);
}

}  // namespace
}  // namespace backslice_tensorflow

#define BACKSLICE_TENSORFLOW_API extern "C" __attribute__((visibility("default")))

// Puts the kernels in front of TensorFlow's; nothing the second time. Returns why not, or null.
BACKSLICE_TENSORFLOW_API const char* backslice_tensorflow_register() {
  using namespace backslice_tensorflow;
  static const char* const refused = []() -> const char* {
    if (!factories_are_where_expected()) return "this version of TensorFlow keeps its kernels in another way";
    for (const Kernel& kernel : kKernels) builtins().remember(kernel.op);
    for (const Kernel& kernel : kKernels) register_kernel(kernel);
    return nullptr;
  }();
  return refused;
}

// Whether they run, or hand every call on to TensorFlow's.
BACKSLICE_TENSORFLOW_API void backslice_tensorflow_enable(int enabled) {
  backslice_tensorflow::is_enabled().store(enabled != 0);
}
