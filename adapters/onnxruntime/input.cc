#include "input.h"

#include "core/errors.h"

namespace backslice::onnxruntime {
namespace {

template <class T>
std::vector<std::int64_t> widened(const void* data, std::int64_t count) {
  const T* first = static_cast<const T*>(data);
  return {first, first + count};
}

}  // namespace

Input::Input(const Api& api, const OrtValue* value, std::string name)
    : api_(api), value_(value), name_(std::move(name)), info_(nullptr, Release{api}) {
  if (value == nullptr) return;
  int is_tensor = 0;
  api.require(slots::kIsTensor, value, &is_tensor);
  if (is_tensor == 0) refuse(invalid_argument(name_, " is not a dense tensor, expected one"));
  OrtTensorTypeAndShapeInfo* info = nullptr;
  api.require(slots::kGetTensorTypeAndShape, value, &info);
  info_.reset(info);
  api.require(slots::kGetTensorElementType, info, &type_);
}

std::vector<std::int64_t> Input::dims() const {
  std::size_t rank = 0;
  api_.require(slots::kGetDimensionsCount, info_.get(), &rank);
  std::vector<std::int64_t> dims(rank);
  if (rank > 0) api_.require(slots::kGetDimensions, info_.get(), dims.data(), rank);
  return dims;
}

ElementType Input::element_type() const {
  const auto type = onnxruntime::element_type(type_);
  if (!type) refuse(invalid_argument(name_, " has elements of ONNX's type ", type_, ", which backslice does not know"));
  return *type;
}

std::int64_t Input::elements() const {
  std::size_t count = 0;
  api_.require(slots::kGetElementCount, info_.get(), &count);
  return static_cast<std::int64_t>(count);
}

const void* Input::data() const {
  void* data = nullptr;
  api_.require(slots::kGetTensorMutableData, value_, &data);
  return data;
}

ConstView Input::view() {
  const Shape shape = unwrap(Shape::make(dims(), name_.c_str()));
  return view_as(contiguous_layout(shape, item_size(element_type().dtype)));
}

ConstView Input::view_as(const Layout& layout) {
  const ElementType type = element_type();
  return {static_cast<const std::byte*>(readable(type)), type.dtype, layout};
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
  check_list();
  return integers();
}

void Input::check_list() const {
  std::size_t rank = 0;
  api_.require(slots::kGetDimensionsCount, info_.get(), &rank);
  if (rank == 1) return;
  refuse(invalid_argument(name_, " has shape ", Ints(dims()), ", expected a list: one axis"));
}

}  // namespace backslice::onnxruntime
