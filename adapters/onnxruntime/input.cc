#include "input.h"

#include <memory>

#include "core/errors.h"

namespace backslice::onnxruntime {
namespace {

auto type_and_shape(const Api& api, const OrtValue* value) {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  api.require(slots::kGetTensorTypeAndShape, value, &info);
  const auto release = [api](OrtTensorTypeAndShapeInfo* p) { api.call(slots::kReleaseTensorTypeAndShapeInfo, p); };
  return std::unique_ptr<OrtTensorTypeAndShapeInfo, decltype(release)>(info, release);
}

template <class T>
std::vector<std::int64_t> widened(const void* data, std::int64_t count) {
  const T* first = static_cast<const T*>(data);
  return {first, first + count};
}

}  // namespace

Input::Input(const Api& api, const OrtValue* value, std::string name)
    : api_(api), value_(value), name_(std::move(name)) {
  if (value == nullptr) return;
  int is_tensor = 0;
  api.require(slots::kIsTensor, value, &is_tensor);
  if (is_tensor == 0) refuse(invalid_argument(name_, " is not a dense tensor, expected one"));
  const auto info = type_and_shape(api, value);
  api.require(slots::kGetTensorElementType, info.get(), &type_);
  std::size_t rank = 0;
  api.require(slots::kGetDimensionsCount, info.get(), &rank);
  dims_.resize(rank);
  if (rank > 0) api.require(slots::kGetDimensions, info.get(), dims_.data(), rank);
}

ElementType Input::element_type() const {
  const auto type = onnxruntime::element_type(type_);
  if (!type) refuse(invalid_argument(name_, " has elements of ONNX's type ", type_, ", which backslice does not know"));
  return *type;
}

std::int64_t Input::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : dims_) count *= extent;  // it is in memory, so this fits
  return count;
}

const void* Input::data() const {
  void* data = nullptr;
  api_.require(slots::kGetTensorMutableData, value_, &data);
  return data;
}

ConstView Input::view() { return view_as(unwrap(Shape::make(dims_, name_.c_str()))); }

ConstView Input::view_as(const Shape& shape) {
  const ElementType type = element_type();
  return unwrap(ConstView::contiguous(readable(type), type.dtype, shape));
}

const void* Input::readable(ElementType type) {
  if (type.dtype == DType::StringView) {
    texts_ = Texts(api_, value_, elements());
    return texts_.data();
  }
  if (type.per_byte == 1) return data();
  unpacked_.resize(static_cast<std::size_t>(elements()));
  unpack(static_cast<const std::byte*>(data()), elements(), type, unpacked_.data());
  return unpacked_.data();
}

std::vector<std::int64_t> Input::integers() const {
  if (type_ == kInt64) return widened<std::int64_t>(data(), elements());
  if (type_ == kInt32) return widened<std::int32_t>(data(), elements());
  refuse(invalid_argument(name_, " has elements of ONNX's type ", type_, ", expected int32 or int64"));
}

std::vector<std::int64_t> Input::list() const {
  if (dims_.size() == 1) return integers();
  refuse(invalid_argument(name_, " has shape ", dims(), ", expected a list: one axis"));
}

}  // namespace backslice::onnxruntime
