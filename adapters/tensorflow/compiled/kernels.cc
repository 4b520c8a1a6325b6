// The kernels that are compiled against the installed TensorFlow. Its variants and tensor arrays are C++ classes, whose
// layout only its own headers define. One file, since those headers take longer to compile than everything here.
//
// python/backslice/tensorflow/compiling.py compiles it, loads it, and calls the functions at its end.
#include "cached_type_indices.h"  // first
#include "ragged_from_variant.h"
#include "ragged_gradient.h"
#include "ragged_to_variant.h"
#include "tensor_array_kernels.h"

#define BACKSLICE_API extern "C" __attribute__((visibility("default")))

namespace backslice_tensorflow {
namespace {

// TensorFlow's own kernels have 0. Two kernels of one priority are an error when the op first runs, so no other library
// is likely to have this number.
constexpr int kPriority = 117;

#define BACKSLICE_TYPE(T) tensorflow::DataTypeToEnum<T>::value,
using Types = std::vector<DataType>;
const Types kAll = {TF_CALL_ALL_TYPES(BACKSLICE_TYPE)};
const Types kConcatenated = {TF_CALL_POD_STRING_TYPES(BACKSLICE_TYPE) TF_CALL_quint8(BACKSLICE_TYPE)
                                 TF_CALL_qint8(BACKSLICE_TYPE) TF_CALL_qint32(BACKSLICE_TYPE)};
#undef BACKSLICE_TYPE

Types gathered_types() {
  Types types = kConcatenated;
  types.push_back(tensorflow::DT_VARIANT);
  return types;
}

// All trivially copyable types, and strings.
Types copied_types() {
  Types types = {tensorflow::DT_STRING};
  constexpr int kReferenceTypes = 100;  // from here on, types are references to those before
  for (int number = 1; number < kReferenceTypes; ++number) {
    const auto type = static_cast<DataType>(number);
    if (tensorflow::DataType_IsValid(number) && tensorflow::DataTypeCanUseMemcpy(type)) types.push_back(type);
  }
  return types;
}

// `attribute`: the one that constrains types; null if every type is taken.
template <class Class>
void add(const char* op, const char* attribute, const Types& types, const std::string& label) {
  tensorflow::KernelDefBuilder definition(op);
  definition.Device(tensorflow::DEVICE_CPU);
  label.empty() ? definition.Priority(kPriority) : definition.Label(label.c_str());
  if (attribute != nullptr) definition.TypeConstraint(attribute, types);
  const auto make = [](OpKernelConstruction* made) -> tensorflow::OpKernel* { return new Class(made); };
  tensorflow::kernel_factory::OpKernelRegistrar(definition.Build(), std::string("Backslice") + op, +make);
}

}  // namespace
}  // namespace backslice_tensorflow

// Registers the kernels in front of TensorFlow's, or for nodes whose attribute _kernel is the label. Once per label.
BACKSLICE_API void backslice_tensorflow_register(const char* label) {
  using namespace backslice_tensorflow;
  add<RaggedToVariant>("RaggedTensorToVariant", "Tvalues", copied_types(), label);
  add<RaggedFromVariant>("RaggedTensorFromVariant", "Tvalues", copied_types(), label);
  add<RaggedGradient>("RaggedTensorToVariantGradient", "Tvalues", copied_types(), label);
  add<MakeArray>("TensorArrayV3", nullptr, {}, label);
  add<MakeGradient>("TensorArrayGradV3", nullptr, {}, label);
  add<MakeGradient>("TensorArrayGradWithShape", nullptr, {}, label);
  add<Write>("TensorArrayWriteV3", "T", kAll, label);
  add<Read>("TensorArrayReadV3", "dtype", kAll, label);
  add<Gather>("TensorArrayGatherV3", "dtype", gathered_types(), label);
  add<Scatter>("TensorArrayScatterV3", "T", kAll, label);
  add<Concat>("TensorArrayConcatV3", "dtype", kConcatenated, label);
  add<Split>("TensorArraySplitV3", "T", kAll, label);
}

// The number of an op's calls. Self-tests do not count.
BACKSLICE_API std::int64_t backslice_tensorflow_calls(const char* op) { return backslice_tensorflow::calls_of(op); }
