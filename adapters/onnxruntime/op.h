// Operators: the functions that ONNX Runtime calls, made from a description.
//
//     class Doubled {
//      public:
//       explicit Doubled(const Node& node);   // may throw
//       void compute(Call& call) const;                   // may throw; several threads may run it at once
//     };
//     constexpr OpDescription kDoubled = describe<Doubled>("Doubled", kInputs);
#pragma once

#include <span>

#include "call.h"
#include "node.h"

namespace backslice::onnxruntime {

/// The type of an input. All indices of a node are int32, or all are int64.
enum class InputType { Any, Index, Int64 };

struct InputDescription {
  InputType type;
  Characteristic characteristic = kRequired;
};

/// An operator with one output, of the type of its one input of any type.
struct OpDescription {
  const char* name;
  std::span<const InputDescription> inputs;
  void* (*create)(const Node&);
  void (*compute)(const void* kernel, Call&);
  void (*destroy)(void* kernel);
};

template <class Kernel>
constexpr OpDescription describe(const char* name, std::span<const InputDescription> inputs) {
  return {name, inputs, [](const Node& node) -> void* { return new Kernel(node); },
          [](const void* kernel, Call& call) { static_cast<const Kernel*>(kernel)->compute(call); },
          [](void* kernel) { delete static_cast<Kernel*>(kernel); }};
}

/// An operator for one ONNX Runtime, with indices of that type.
struct Op : OrtCustomOp {
  Op(const Api& runtime, const OpDescription& what, int index_type_number);

  Api api;
  const OpDescription& description;
  int index_type;
};

}  // namespace backslice::onnxruntime
