// ONNX Runtime's description of a tensor: the type of its elements and its shape.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "api.h"

namespace backslice::onnxruntime {

/// Versions from 1.24 on point to the shape. Older ones make an object with a copy of it, which takes as long as a
/// small gradient.
class TensorInfo {
 public:
  TensorInfo() = default;

  /// Precondition: the value outlives it. Refuses values that are not dense tensors, by that name.
  TensorInfo(const Api& api, const OrtValue* value, std::string_view name);

  int type() const { return type_; }
  std::size_t rank() const;
  std::int64_t elements() const;
  std::vector<std::int64_t> dims() const;

 private:
  struct Release {
    Api api;
    void operator()(OrtTensorTypeAndShapeInfo* info) const { api.call(slots::kReleaseTensorTypeAndShapeInfo, info); }
  };

  const Api& api() const { return copy_.get_deleter().api; }

  std::unique_ptr<OrtTensorTypeAndShapeInfo, Release> copy_{nullptr, Release{Api(nullptr)}};  // if there is one
  const std::int64_t* dims_ = nullptr;                                                        // where there is none
  std::size_t rank_ = 0;
  int type_ = 0;
};

}  // namespace backslice::onnxruntime
