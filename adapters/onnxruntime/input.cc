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
    : api_(api), value_(value), name_(std::move(name)) {
  if (value != nullptr) info_ = TensorInfo(api, value, name_);
}

ElementType Input::element_type() const {
  const auto found = onnxruntime::element_type(type());
  if (found) return *found;
  refuse(invalid_argument(name_, " has elements of ONNX's type ", type(), ", which backslice does not know"));
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
  if (type() == kInt64) return widened<std::int64_t>(data(), elements());
  if (type() == kInt32) return widened<std::int32_t>(data(), elements());
  refuse(invalid_argument(name_, " has elements of ONNX's type ", type(), ", expected int32 or int64"));
}

std::vector<std::int64_t> Input::list() const {
  check_list();
  return integers();
}

void Input::check_list() const {
  if (info_.rank() == 1) return;
  refuse(invalid_argument(name_, " has shape ", Ints(dims()), ", expected a list: one axis"));
}

}  // namespace backslice::onnxruntime
