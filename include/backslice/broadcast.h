/// @file
/// broadcast: one tensor seen as a larger one, by NumPy's rules. Nothing is copied: repeated axes have stride 0.
///
/// Axes are matched from the last one. An axis of extent 1, or one that the tensor does not have, is repeated.
///
///     dy of shape [3]:    broadcast(s.result_shape(), dy)    // [2,3]: each row is dy
///
/// The operations take a gradient of exactly the slice's shape. This is how to give one value, or one row, for all:
///
///     Result<ConstView> wide = broadcast(s.result_shape(), dy);
///     if (!wide) return wide.status();
///     Result<Tensor> dx = slice_grad(s, *wide);
#pragma once

#include "backslice/view.h"

namespace backslice {

class Tensor;

/// Returns InvalidArgument if the shape of `view` does not broadcast to `shape`. `argument` names the view in the
/// message.
BACKSLICE_EXPORT Result<ConstView> broadcast(Ints shape, const ConstView& view, const char* argument = "view");
Result<ConstView> broadcast(Ints shape, const Tensor&& temporary, const char* argument = "view") = delete;

[[deprecated("use broadcast(shape, view); removed in 0.5")]]
inline Result<ConstView> broadcast(const ConstView& view, const Shape& shape, const char* argument = "view") {
  return broadcast(shape, view, argument);
}
Result<ConstView> broadcast(const Tensor&& temporary, const Shape& shape, const char* argument = "view") = delete;

}  // namespace backslice
