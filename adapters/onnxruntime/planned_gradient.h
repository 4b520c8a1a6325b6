// The gradient of one slice, checked and planned for one element type, to run in the memory of ONNX Runtime.
#pragma once

#include <optional>

#include "backslice/prepared_slice.h"
#include "call.h"

namespace backslice::onnxruntime {

class PlannedGradient {
 public:
  /// Plans for elements of that ONNX type. Returns nothing for elements with a special form in ONNX Runtime, and for
  /// results that are refused.
  static std::optional<PlannedGradient> make(const Selection& selection, int type);

  /// Whether it is for a dY of that type, with so many elements.
  bool takes(int type, std::int64_t elements) const { return type == type_ && elements == elements_; }

  /// Precondition: these are all elements of a dY that fits.
  void run(Call& call, const void* dy) const;

 private:
  PlannedGradient(PreparedSlice slice, int type, ElementType element);

  int type_;
  ElementType element_;
  std::int64_t elements_;  // of dY
  PreparedSlice slice_;
  Shape dx_;
};

}  // namespace backslice::onnxruntime
