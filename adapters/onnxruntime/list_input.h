// An input of a node that is a list of integers, read at every run. ONNX Runtime takes longer to describe a tensor than
// a small gradient takes to compute, so what the graph says of a list is not asked again while it stays the same.
#pragma once

#include "call.h"
#include "node.h"

namespace backslice::onnxruntime {

class ListInput {
 public:
  ListInput(const Node& node, std::size_t index, const char* name);

  /// Whether read() answers constant() at every run.
  bool is_constant() const { return is_constant_; }
  const std::optional<std::vector<std::int64_t>>& constant() const { return constant_; }

  /// Nothing where it was left out.
  std::optional<std::vector<std::int64_t>> read(const Call& call) const;
  std::vector<std::int64_t> read_required(const Call& call) const;

  /// Whether read() would answer this list, or nothing if it is null, without making one.
  bool holds(const Call& call, const std::vector<std::int64_t>* list) const;

 private:
  const void* declared_elements(const Call& call) const;

  std::size_t index_;
  const char* name_;
  bool is_constant_;
  std::optional<std::vector<std::int64_t>> constant_;
  Declared declared_;
};

}  // namespace backslice::onnxruntime
