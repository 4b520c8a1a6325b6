#include "gradient_input.h"

#include "backslice/shape.h"

namespace backslice::onnxruntime {

GradientInput::GradientInput(const Node& node, std::size_t index) {
  const auto declared = node.input(index);
  const auto element = declared ? element_type(declared->type) : std::nullopt;
  if (!element || !element->is_plain()) return;
  const Result<Shape> shape = Shape::make(declared->dims);  // refuses what the graph leaves open
  if (!shape.ok() || shape->elements() == 0 || !onnxruntime::fits(*shape, *element)) return;
  type_ = declared->type;
  elements_ = shape->elements();
  bytes_to_last_ = (elements_ - 1) * item_size(element->dtype);
  for (const std::int64_t extent : *shape) last_.push_back(extent - 1);
}

bool GradientInput::fits(const Call& call, const OrtValue* dy, const PlannedGradient& planned) const {
  if (!call.api().has(slots::kGetTypeAndShape) && planned.takes(type_, elements_) && is_as_declared(call, dy)) {
    return true;
  }
  const TensorInfo info(call.api(), dy, "dY");
  return planned.takes(info.type(), info.elements());
}

bool GradientInput::is_as_declared(const Call& call, const OrtValue* dy) const {
  const Api& api = call.api();
  void* last = nullptr;
  if (OrtStatus* failure = api.call(slots::kTensorAt, const_cast<OrtValue*>(dy), last_.data(), last_.size(), &last)) {
    api.call(slots::kReleaseStatus, failure);
    return false;
  }
  return static_cast<const std::byte*>(last) - static_cast<const std::byte*>(call.data(dy)) == bytes_to_last_;
}

}  // namespace backslice::onnxruntime
