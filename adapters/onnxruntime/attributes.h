// The attributes of a node.
#pragma once

#include <string>
#include <vector>

#include "api.h"

namespace backslice::onnxruntime {

class Attributes {
 public:
  Attributes(const Api& api, const OrtKernelInfo* info) : api_(api), info_(info) {}

  /// What an attribute is, or `otherwise` where the node does not have it. One of another type is refused.
  std::int64_t integer(const char* name, std::int64_t otherwise) const;
  std::string text(const char* name, const char* otherwise) const;
  std::vector<std::int64_t> integers(const char* name) const;  ///< None where the node does not have it.

 private:
  template <class... Values>
  bool has(Slot<OrtStatus*(const OrtKernelInfo*, const char*, Values...)> slot, const char* name,
           std::type_identity_t<Values>... values) const;
  void check_absent(const char* name, const char* expected) const;

  Api api_;
  const OrtKernelInfo* info_;
};

}  // namespace backslice::onnxruntime
