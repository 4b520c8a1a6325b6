#include "call.h"

#include "core/checked_math.h"
#include "core/errors.h"

namespace backslice::onnxruntime {
namespace {

// Strides are products of extents. And some versions of ONNX Runtime crash on empty results that would be too large if
// they were not empty.
void check_size(const Shape& shape, ElementType type) {
  std::optional<std::int64_t> bytes = item_size(type.dtype);
  for (const std::int64_t extent : shape) {
    if (bytes && extent > 0) bytes = checked_multiply(*bytes, extent);
  }
  if (bytes) return;
  refuse(invalid_argument("the result of shape ", Ints(shape), " and type ", name_of(type),
                          " has extents whose product is more than 2**63 - 1 bytes"));
}

// Versions that cannot infer the type of a result believe the model, and make room for what it declares.
void check_type(ElementType declared, ElementType type) {
  if (declared == type) return;
  refuse(invalid_argument("the model declares the result to be of type ", name_of(declared), ", but it is of type ",
                          name_of(type)));
}

}  // namespace

void SessionThreads::run(std::int64_t count, const std::function<void(std::int64_t)>& task) {
  using Task = std::function<void(std::int64_t)>;
  const auto run_one = [](void* body, std::size_t i) {
    (*static_cast<const Task*>(body))(static_cast<std::int64_t>(i));
  };
  OrtStatus* refused = api_.call(slots::kParallelFor, context_, run_one, static_cast<std::size_t>(count),
                                 std::size_t{0}, const_cast<Task*>(&task));
  if (refused == nullptr) return;
  api_.call(slots::kReleaseStatus, refused);  // before the first of them
  for (std::int64_t i = 0; i < count; ++i) task(i);
}

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

Call::Call(const Api& api, OrtKernelContext* context) : api_(api), context_(context), threads_(api, context) {
  api.require(slots::kGetInputCount, context, &inputs_);
}

Input Call::input(std::size_t index, std::string name) const {
  Input found = optional_input(index, std::move(name));
  if (!found.is_given()) refuse(invalid_argument(found.name(), " is left out, but it is not optional"));
  return found;
}

Input Call::optional_input(std::size_t index, std::string name) const {
  const OrtValue* value = nullptr;
  if (index < inputs()) api_.require(slots::kGetInput, context_, index, &value);
  return Input(api_, value, std::move(name));
}

Output Call::output(const Shape& shape, ElementType type) const {
  check_size(shape, type);
  return output(contiguous_layout(shape, item_size(type.dtype)), type);
}

Output Call::output(const Layout& layout, ElementType type) const {
  OrtValue* value = nullptr;
  const Ints dims(layout.shape);
  check_size(layout.shape, type);
  if (OrtStatus* failure = api_.call(slots::kGetOutput, context_, std::size_t{0}, dims.data(), dims.size(), &value)) {
    refuse(resource_exhausted("ONNX Runtime cannot allocate the result of shape ", dims, " and type ", name_of(type),
                              ": ", api_.taken(failure).message()));
  }
  check_type(Input(api_, value, "the result").element_type(), type);
  return Output(api_, value, type, layout);
}

}  // namespace backslice::onnxruntime
