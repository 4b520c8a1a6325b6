#include "backslice/broadcast.h"

#include "core/errors.h"

namespace backslice {

Result<ConstView> broadcast(Ints dims, const ConstView& view, const char* argument) {
  return without_throwing([&]() -> Result<ConstView> {
    const auto checked = Shape::make(dims);
    if (!checked.ok()) return checked.status();
    const Shape& shape = *checked;
    const Shape& from = view.shape();
    const int added = shape.rank() - from.rank();
    const auto refuse = [&](const auto&... why) {
      return invalid_argument(argument, " of shape ", Ints(from), " does not broadcast to ", Ints(shape), ": ", why...)
          .at(argument);
    };
    if (added < 0) return refuse("rank ", from.rank(), ", expected at most ", shape.rank());
    Dims strides(shape);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const std::int64_t extent = axis < added ? 1 : from[axis - added];
      if (extent != 1 && extent != shape[axis]) {
        return refuse("axis ", axis - added, " has ", extent, ", expected 1 or ", shape[axis]);
      }
      strides[axis] = axis < added || extent != shape[axis] ? 0 : view.layout.strides[axis - added];
    }
    const std::int64_t item_size = view.layout.item_size;
    // Strides without elements mean nothing, so any layout will do: the contiguous one.
    if (shape.elements() == 0) {
      return ConstView{view.data, view.dtype, contiguous_layout(shape, item_size), view.device};
    }
    return ConstView{view.data, view.dtype, {shape, strides, item_size}, view.device};
  });
}

}  // namespace backslice
