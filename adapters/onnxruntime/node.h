// A node, as it is when its kernel is made: its attributes, and the inputs that no run changes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api.h"
#include "element_types.h"

namespace backslice::onnxruntime {

class Node {
 public:
  Node(const Api& api, const OrtKernelInfo* info) : api_(api), info_(info) {}

  /// What an attribute is, or `otherwise` where the node does not have it. One of another type is refused.
  std::int64_t integer(const char* name, std::int64_t otherwise) const;
  std::string text(const char* name, const char* otherwise) const;
  std::vector<std::int64_t> integers(const char* name) const;  ///< None where the node does not have it.

  /// How many inputs it has, those in the middle that are left out included.
  std::size_t inputs() const;

  /// The element type that the graph gives an input, if it is one that we know.
  std::optional<ElementType> input_type(std::size_t index) const;

  /// An input that is a constant list of integers, if it is one.
  std::optional<std::vector<std::int64_t>> constant_list(std::size_t index) const;

 private:
  template <class... Values>
  bool has(Slot<OrtStatus*(const OrtKernelInfo*, const char*, Values...)> slot, const char* name,
           std::type_identity_t<Values>... values) const;
  void check_absent(const char* name, const char* expected) const;

  Api api_;
  const OrtKernelInfo* info_;
};

}  // namespace backslice::onnxruntime
