// An input of a node that is a list of integers, read at every run. Before 1.24, ONNX Runtime takes longer to describe
// a tensor than a small gradient takes to compute. So the graph's declaration of a list is used while it holds.
#pragma once

#include <span>

#include "call.h"
#include "node.h"

namespace backslice::onnxruntime {

class ListInput {
 public:
  ListInput(const Node& node, std::size_t index, const char* name);

  /// Whether read() returns constant() at every run.
  bool is_constant() const { return is_constant_; }
  std::optional<std::vector<std::int64_t>> constant() const;

  /// Returns nothing if the list is missing.
  std::optional<std::vector<std::int64_t>> read(const Call& call) const;
  std::vector<std::int64_t> read_required(const Call& call) const;

  /// Whether read() would return this list. May return false wrongly.
  bool holds(const Call& call, std::span<const std::int64_t> list) const;

  bool is_left_out(const Call& call) const;

 private:
  // Not inlined: its stack frame would slow down the other path, which most lists of small gradients take.
  [[gnu::noinline]] bool holds_described(const Call& call, const OrtValue* value,
                                         std::span<const std::int64_t> list) const;
  bool holds_declared(const Call& call, const OrtValue* value, std::span<const std::int64_t> list) const;

  // In few cache lines: a graph may have many nodes.
  std::uint32_t index_;
  int type_ = kAnyType;      // as the graph tells
  std::int64_t length_ = 0;  // the same; 0 if the graph does not declare a list of so many integers
  const char* name_;
  bool is_constant_;
  std::unique_ptr<const std::vector<std::int64_t>> constant_;  // also null if it is missing
};

}  // namespace backslice::onnxruntime
