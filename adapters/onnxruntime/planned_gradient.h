// The gradient of one slice, checked and planned for one element type, to run in the memory of ONNX Runtime.
#pragma once

#include <optional>

#include "backslice/prepared_slice.h"
#include "call.h"

namespace backslice::onnxruntime {

class PlannedGradient {
 public:
  /// Of elements of that type of ONNX's. Nothing where it cannot be planned: for elements that ONNX Runtime keeps in a
  /// form of its own, and for results that are refused.
  static std::optional<PlannedGradient> make(const Selection& selection, int type);

  /// Whether it is for a dY of that type, with so many elements.
  bool takes(int type, std::int64_t elements) const { return type == type_ && elements == elements_; }

  /// Precondition: these are the elements of a dY that it takes, and no fewer.
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
