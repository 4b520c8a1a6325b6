// A node, as it is when its kernel is made: its attributes, and the inputs that no run changes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api.h"
#include "element_types.h"

namespace backslice::onnxruntime {

/// What the graph says of a tensor. An extent that it leaves open is negative; it has no extents where it leaves open
/// how many there are.
struct Declared {
  int type = kAnyType;
  std::vector<std::int64_t> dims = {};
};

class Node {
 public:
  Node(const Api& api, const OrtKernelInfo* info) : api_(api), info_(info) {}

  /// What an attribute is, or `otherwise` where the node does not have it. One of another type is refused.
  std::int64_t integer(const char* name, std::int64_t otherwise) const;
  std::string text(const char* name, const char* otherwise) const;
  std::vector<std::int64_t> integers(const char* name) const;  ///< None where the node does not have it.

  /// How many inputs it has, those in the middle that are left out included.
  std::size_t inputs() const;

  /// What the graph says of an input or of the output, if that is a tensor.
  std::optional<Declared> input(std::size_t index) const { return declared(slots::kGetNodeInputType, index); }
  std::optional<Declared> output() const { return declared(slots::kGetNodeOutputType, 0); }

  /// An input that is a constant list of integers, if it is one.
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
