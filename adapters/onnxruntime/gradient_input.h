// dY, the gradient that a node gets at every run.
#pragma once

#include "node.h"
#include "planned_gradient.h"

namespace backslice::onnxruntime {

class GradientInput {
 public:
  GradientInput(const Node& node, std::size_t index);

  /// Returns its elements, if it fits the plan. Before 1.24, ONNX Runtime takes longer to describe a tensor than to
  /// check it against the graph's shape.
  std::optional<const void*> taken(const Call& call, const OrtValue* dy, const PlannedGradient& planned) const;

 private:
  [[gnu::noinline]] std::optional<const void*> described(const Call& call, const OrtValue* dy,
                                                         const PlannedGradient& planned) const;
  bool is_as_declared(const Call& call, const OrtValue* dy, const void* elements) const;

  int type_ = kAnyType;               // as the graph tells
  std::int64_t elements_ = 0;         // the same; 0 where it does not tell
  std::int64_t bytes_to_last_ = 0;    // from the first element to the last
  std::vector<std::int64_t> places_;  // of the last element, then past the end of the first axis
};

}  // namespace backslice::onnxruntime
