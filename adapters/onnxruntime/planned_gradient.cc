#include "planned_gradient.h"

namespace backslice::onnxruntime {

PlannedGradient::PlannedGradient(PreparedSlice slice, int type, ElementType element)
    : type_(type),
      element_(element),
      elements_(slice.y().shape.elements()),
      slice_(std::move(slice)),
      dx_(slice_.x().shape) {}

std::optional<PlannedGradient> PlannedGradient::make(const Selection& selection, int type) {
  const auto element = element_type(type);
  if (!element || !element->is_plain() || !fits(selection.shape(), *element)) return std::nullopt;
  Result<PreparedSlice> made = PreparedSlice::make(selection, element->dtype);
  if (!made.ok()) return std::nullopt;
  return PlannedGradient(*std::move(made), type, *element);
}

void PlannedGradient::run(Call& call, const void* dy) const {
  void* dx = call.plain_output(dx_, element_);
  check(slice_.gradient(dy, dx, call.context()));
}

}  // namespace backslice::onnxruntime
