#include "call.h"

#include <atomic>

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

// Each of them runs once, although ONNX Runtime may fail after some of them: one that adds must not add twice.
class Tasks {
 public:
  Tasks(std::size_t count, const std::function<void(std::int64_t)>& task) : has_begun_(count), task_(task) {}

  void run(std::size_t i) {
    if (!has_begun_[i].exchange(true)) task_(static_cast<std::int64_t>(i));
  }

 private:
  std::vector<std::atomic<bool>> has_begun_;
  const std::function<void(std::int64_t)>& task_;
};

}  // namespace

void SessionThreads::run(std::int64_t count, const std::function<void(std::int64_t)>& task) {
  Tasks tasks(static_cast<std::size_t>(count), task);
  const auto run_one = [](void* all, std::size_t i) { static_cast<Tasks*>(all)->run(i); };
  OrtStatus* refused = api_.call(slots::kParallelFor, context_, run_one, static_cast<std::size_t>(count),
                                 std::size_t{0}, static_cast<void*>(&tasks));
  if (refused == nullptr) return;
  api_.call(slots::kReleaseStatus, refused);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) tasks.run(i);
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

Call::Call(const Api& api, OrtKernelContext* context, std::optional<ElementType> declared)
    : api_(api), context_(context), threads_(api, context), declared_(declared) {
  api.require(slots::kGetInputCount, context, &inputs_);
}

Input Call::input(std::size_t index, std::string name) const {
  Input found = optional_input(index, std::move(name));
  if (!found.is_given()) refuse(invalid_argument(found.name(), " is left out, but it is not optional"));
  return found;
}

Input Call::optional_input(std::size_t index, std::string name) const {
  return Input(api_, value(index), std::move(name));
}

const OrtValue* Call::value(std::size_t input) const {
  const OrtValue* value = nullptr;
  if (input < inputs()) api_.require(slots::kGetInput, context_, input, &value);
  return value;
}

const void* Call::element(std::size_t input, std::int64_t index) const {
  OrtValue* tensor = const_cast<OrtValue*>(value(input));  // it is only read
  void* found = nullptr;
  if (tensor == nullptr) return nullptr;
  OrtStatus* failure = api_.call(slots::kTensorAt, tensor, &index, std::size_t{1}, &found);
  if (failure == nullptr) return found;
  api_.call(slots::kReleaseStatus, failure);
  return nullptr;
}

Output Call::output(const Shape& shape, ElementType type) const {
  OrtValue* made = result(shape, type);
  return Output(api_, made, type, contiguous_layout(shape, item_size(type.dtype)));
}

void* Call::plain_output(const Shape& shape, ElementType type) const {
  void* data = nullptr;
  api_.require(slots::kGetTensorMutableData, result(shape, type), &data);
  return data;
}

OrtValue* Call::result(const Shape& shape, ElementType type) const {
  OrtValue* value = nullptr;
  const Ints dims(shape);
  check_size(shape, type);
  if (OrtStatus* failure = api_.call(slots::kGetOutput, context_, std::size_t{0}, dims.data(), dims.size(), &value)) {
    refuse(resource_exhausted("ONNX Runtime has no room for the result of shape ", dims, " and type ", name_of(type),
                              ", in memory of its own or in what was bound to it: ", api_.taken(failure).message()));
  }
  check_type(value, type);
  return value;
}

// Versions that cannot infer the type of a result believe the model, and make room for what it declares.
void Call::check_type(const OrtValue* result, ElementType type) const {
  const ElementType found = declared_ ? *declared_ : Input(api_, result, "the result").element_type();
  if (found == type) return;
  refuse(invalid_argument("the model declares the result to be of type ", name_of(found), ", but it is of type ",
                          name_of(type)));
}

}  // namespace backslice::onnxruntime
