// TensorFlow's own kernels, which ours stand in front of: found before ours are registered, and made beside them.
//
// The registry hands out the definition of the kernel it would take, through FindKernelDef. The factory that makes it
// lies behind that definition, where TensorFlow's headers do not show it. So the place is proved first, with a kernel
// of ours whose factory is known: where it is not found, nothing is registered.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/framework/kernel_def_builder.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace backslice_tensorflow {

using tensorflow::DataType;
using tensorflow::KernelDef;
constexpr int kReferenceTypes = 100;  // from here on, types are references to those before
using Factory = tensorflow::kernel_factory::OpKernelFactory;

// The attributes that TensorFlow chooses a kernel by, under every name that the operations here have for them.
inline tensorflow::NodeDef node_with(const char* op, DataType values, DataType splits) {
  tensorflow::NodeDef node;
  node.set_name("backslice");
  node.set_op(op);
  for (const char* name : {"T", "dtype", "Tvalues"}) (*node.mutable_attr())[name].set_type(values);
  (*node.mutable_attr())["Tsplits"].set_type(splits);
  return node;
}

// Null where TensorFlow has no kernel.
inline const KernelDef* find_definition(const tensorflow::NodeDef& node) {
  const KernelDef* definition = nullptr;
  std::string class_name;
  const tensorflow::DeviceType cpu(tensorflow::DEVICE_CPU);
  return tensorflow::FindKernelDef(cpu, node, &definition, &class_name).ok() ? definition : nullptr;
}

inline const KernelDef* find_definition(const char* op, DataType values, DataType splits) {
  return find_definition(node_with(op, values, splits));
}

// The factory of a registration: behind its definition and the name of its class.
inline Factory* factory_behind(const KernelDef* definition) {
  constexpr std::size_t kOffset = sizeof(KernelDef) + sizeof(std::string);
  Factory* factory = nullptr;
  std::memcpy(&factory, reinterpret_cast<const char*>(definition) + kOffset, sizeof factory);
  return factory;
}

// Registers a kernel of no use under a label that nobody asks for, and looks whether its factory is where it should be.
inline bool factories_are_where_expected() {
  constexpr const char* kOp = "NoOp";
  constexpr const char* kLabel = "backslice";
  struct Nothing : Factory {
    tensorflow::OpKernel* Create(tensorflow::OpKernelConstruction*) override { return nullptr; }
  };
  auto made = std::make_unique<Nothing>();
  const Factory* const known = made.get();
  static_assert(sizeof(std::unique_ptr<Factory>) == sizeof(Factory*));
  tensorflow::kernel_factory::OpKernelRegistrar registrar(
      tensorflow::KernelDefBuilder(kOp).Device(tensorflow::DEVICE_CPU).Label(kLabel).Build(), "BacksliceNothing",
      std::move(made));
  tensorflow::NodeDef node;
  node.set_op(kOp);
  (*node.mutable_attr())["_kernel"].set_s(kLabel);
  const KernelDef* const definition = find_definition(node);
  return definition != nullptr && factory_behind(definition) == known;
}

// What makes TensorFlow's own kernel of an operation, for each pair of types that it has one for.
class Builtins {
 public:
  // Precondition: no kernel of ours has been registered for it.
  void remember(const char* op) {
    for (const DataType splits : {tensorflow::DT_INT32, tensorflow::DT_INT64}) {
      for (int values = 1; values < kReferenceTypes; ++values) remember(op, DataType(values), splits);
    }
  }

  // Null where TensorFlow has none.
  Factory* find(const std::string& op, DataType values, DataType splits) const {
    const auto found = factories_.find({op, values, splits});
    return found == factories_.end() ? nullptr : found->second;
  }

 private:
  void remember(const char* op, DataType values, DataType splits) {
    if (!tensorflow::DataType_IsValid(values)) return;
    if (const KernelDef* definition = find_definition(op, values, splits)) {
      factories_[{op, values, splits}] = factory_behind(definition);
    }
  }

  std::map<std::tuple<std::string, DataType, DataType>, Factory*> factories_;
};

inline Builtins& builtins() {
  static Builtins* const all = new Builtins;  // kernels may be made while the process ends
  return *all;
}

}  // namespace backslice_tensorflow
