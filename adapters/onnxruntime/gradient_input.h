// dY, the gradient that a node is given at every run.
#pragma once

#include "node.h"
#include "planned_gradient.h"

namespace backslice::onnxruntime {

class GradientInput {
 public:
  GradientInput(const Node& node, std::size_t index);

  /// Its elements, where the plan takes it. What the graph tells of a tensor is believed as far as a list's is
  /// (list_input.h): it has no fewer elements than that, which suffices to read what the plan takes.
  std::optional<const void*> taken(const Call& call, const OrtValue* dy, const PlannedGradient& planned) const;

 private:
  [[gnu::noinline]] std::optional<const void*> described(const Call& call, const OrtValue* dy,
                                                         const PlannedGradient& planned) const;
  bool is_as_declared(const Call& call, const OrtValue* dy, const void* elements) const;

  int type_ = kAnyType;             // as the graph tells
  std::int64_t elements_ = 0;       // the same; 0 where it does not tell
  std::int64_t bytes_to_last_ = 0;  // from the first element to the last
  std::vector<std::int64_t> last_;  // where that is
};

}  // namespace backslice::onnxruntime
