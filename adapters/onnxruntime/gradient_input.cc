#include "gradient_input.h"

#include "backslice/shape.h"

namespace backslice::onnxruntime {

GradientInput::GradientInput(const Node& node, std::size_t index) {
  const auto declared = node.input(index);
  const auto element = declared ? element_type(declared->type) : std::nullopt;
  if (!element || !element->is_plain()) return;
  const Result<Shape> shape = Shape::make(declared->dims);  // refuses shapes that the graph leaves open
  if (!shape.ok() || shape->elements() == 0 || !onnxruntime::fits(*shape, *element)) return;
  if (shape->rank() > 1 && (*shape)[0] == 1) return;  // the distance of the ends would not determine the second extent
  type_ = declared->type;
  elements_ = shape->elements();
  bytes_to_last_ = (elements_ - 1) * item_size(element->dtype);
  for (const std::int64_t extent : *shape) places_.push_back(extent - 1);
  for (int axis = 0; axis < shape->rank(); ++axis) places_.push_back(axis == 0 ? (*shape)[0] : 0);
}

std::optional<const void*> GradientInput::taken(const Call& call, const OrtValue* dy,
                                                const PlannedGradient& planned) const {
  if (!call.api().has(slots::kGetTypeAndShape) && planned.takes(type_, elements_)) {
    const void* elements = call.data(dy);
    if (is_as_declared(call, dy, elements)) return elements;
  }
  return described(call, dy, planned);
}

std::optional<const void*> GradientInput::described(const Call& call, const OrtValue* dy,
                                                    const PlannedGradient& planned) const {
  const TensorInfo info(call.api(), dy, "dY");
  if (!planned.takes(info.type(), info.elements())) return std::nullopt;
  return call.data(dy);
}

// The address of the last element, relative to the first, determines every extent but the first, and a lower bound of
// that. A position past the end of the first axis must not exist. Both checks take less time than a description of the
// tensor.
bool GradientInput::is_as_declared(const Call& call, const OrtValue* dy, const void* elements) const {
  const std::size_t rank = places_.size() / 2;
  const void* last = call.element(dy, places_.data(), rank);
  if (last == nullptr) return false;
  if (static_cast<const std::byte*>(last) - static_cast<const std::byte*>(elements) != bytes_to_last_) return false;
  return rank == 0 || call.element(dy, places_.data() + rank, rank) == nullptr;
}

}  // namespace backslice::onnxruntime
