#include "call.h"

#include "core/checked_math.h"
#include "core/errors.h"

namespace backslice::onnxruntime {

Output::Output(const Api& api, OrtValue* value, ElementType type, const Layout& layout)
    : api_(api), value_(value), type_(type) {
  if (!type.is_plain()) elements_ = unwrap(Tensor::make(type.dtype, layout.shape));
  view_ = elements_ ? elements_->view() : View{static_cast<std::byte*>(data()), type.dtype, layout};
}

void Output::finish() {
  if (!elements_) return;
  const std::int64_t count = view_.elements();
  if (type_.dtype == DType::StringView) {
    write_texts(api_, reinterpret_cast<const StringView*>(view_.data), count, value_);
  } else {
    pack(view_.data, count, type_, static_cast<std::byte*>(data()));
  }
}

void* Output::data() const {
  void* data = nullptr;
  api_.require(slots::kGetTensorMutableData, value_, &data);
  return data;
}

// Strides are products of extents. Some versions of ONNX Runtime crash on empty results whose extents multiply to too
// much.
bool fits(const Shape& shape, ElementType type) {
  std::optional<std::int64_t> bytes = item_size(type.dtype);
  for (const std::int64_t extent : shape) {
    if (bytes && extent > 0) bytes = checked_multiply(*bytes, extent);
  }
  return bytes.has_value();
}

Input Call::input(std::size_t index, std::string name) const {
  Input found = optional_input(index, std::move(name));
  if (!found.is_given()) refuse(invalid_argument(found.name(), " is left out, but it is not optional"));
  return found;
}

Input Call::optional_input(std::size_t index, std::string name) const {
  return Input(api_, value(index), std::move(name));
}

Output Call::output(const Shape& shape, ElementType type) const {
  if (!fits(shape, type)) {
    refuse(invalid_argument("the result of shape ", Ints(shape), " and type ", name_of(type),
                            " has extents whose product is more than 2**63 - 1 bytes"));
  }
  OrtValue* made = room_for(shape, type);
  return Output(api_, made, type, contiguous_layout(shape, item_size(type.dtype)));
}

void Call::refuse_room(const Shape& shape, ElementType type, OrtStatus* failure) const {
  refuse(resource_exhausted("ONNX Runtime has no room for the result of shape ", Ints(shape), " and type ",
                            name_of(type),
                            ", in memory of its own or in what was bound to it: ", api_.taken(failure).message()));
}

// Versions that cannot infer the type of a result use the declared type, and allocate for it.
void Call::check_type(const OrtValue* result, ElementType type) const {
  const ElementType found = declared_ ? *declared_ : Input(api_, result, "the result").element_type();
  if (found == type) return;
  refuse(invalid_argument("the model declares the result to be of type ", name_of(found), ", but it is of type ",
                          name_of(type)));
}

}  // namespace backslice::onnxruntime
