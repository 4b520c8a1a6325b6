// A node when its kernel is made: its attributes, and its constant inputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api.h"
#include "element_types.h"

namespace backslice::onnxruntime {

/// The graph's declaration of a tensor. Unknown extents are negative; there are none if the rank is unknown.
struct Declared {
  int type = kAnyType;
  std::vector<std::int64_t> dims = {};
};

class Node {
 public:
  Node(const Api& api, const OrtKernelInfo* info) : api_(api), info_(info) {}

  /// Returns an attribute, or `otherwise` if the node does not have it. An attribute of another type is refused.
  std::int64_t integer(const char* name, std::int64_t otherwise) const;
  std::string text(const char* name, const char* otherwise) const;
  std::vector<std::int64_t> integers(const char* name) const;  ///< Empty if the node does not have it.

  /// Returns the number of inputs, including missing ones in the middle.
  std::size_t inputs() const;

  /// Returns the graph's declaration of an input or of the output, if that is a tensor.
  std::optional<Declared> input(std::size_t index) const { return declared(slots::kGetNodeInputType, index); }
  std::optional<Declared> output() const { return declared(slots::kGetNodeOutputType, 0); }

  /// Returns an input that is a constant list of integers, if it is one.
  std::optional<std::vector<std::int64_t>> constant_list(std::size_t index) const;

 private:
  template <class... Values>
  bool has(Slot<OrtStatus*(const OrtKernelInfo*, const char*, Values...)> slot, const char* name,
           std::type_identity_t<Values>... values) const;
  std::optional<Declared> declared(decltype(slots::kGetNodeInputType) slot, std::size_t index) const;
  void check_absent(const char* name, const char* expected) const;

  Api api_;
  const OrtKernelInfo* info_;
};

}  // namespace backslice::onnxruntime
