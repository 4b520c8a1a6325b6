#include "tensor_info.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/errors.h"

namespace backslice::onnxruntime {

TensorInfo::TensorInfo(const Api& api, const OrtValue* value, std::string_view name) {
  int is_tensor = 0;
  api.require(slots::kIsTensor, value, &is_tensor);
  if (is_tensor == 0) refuse(invalid_argument(name, " is not a dense tensor, expected one"));
  if (api.has(slots::kGetTypeAndShape)) {
    api.require(slots::kGetTypeAndShape, value, &type_, &dims_, &rank_);
    return;
  }
  OrtTensorTypeAndShapeInfo* info = nullptr;
  api.require(slots::kGetTensorTypeAndShape, value, &info);
  copy_ = {info, Release{api}};
  api.require(slots::kGetTensorElementType, info, &type_);
}

std::size_t TensorInfo::rank() const {
  std::size_t rank = rank_;
  if (copy_ != nullptr) api().require(slots::kGetDimensionsCount, copy_.get(), &rank);
  return rank;
}

// The product of the other extents may overflow if one is zero.
std::int64_t TensorInfo::elements() const {
  if (copy_ == nullptr) {
    if (std::find(dims_, dims_ + rank_, 0) != dims_ + rank_) return 0;
    return std::accumulate(dims_, dims_ + rank_, std::int64_t{1}, std::multiplies<>());
  }
  std::size_t count = 0;
  api().require(slots::kGetElementCount, copy_.get(), &count);
  return static_cast<std::int64_t>(count);
}

std::vector<std::int64_t> TensorInfo::dims() const {
  if (copy_ == nullptr) return {dims_, dims_ + rank_};
  std::vector<std::int64_t> dims(rank());
  if (!dims.empty()) api().require(slots::kGetDimensions, copy_.get(), dims.data(), dims.size());
  return dims;
}

}  // namespace backslice::onnxruntime
