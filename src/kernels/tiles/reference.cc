#include <vector>

#include "core/items.h"
#include "kernels/slice/kernel.h"
#include "kernels/tiles/kernel.h"
#include "plan/plan.h"

namespace backslice::reference {
namespace {

// Calls body(position in dst's shape, element of dy) for each element of a slice.
template <class Body>
void for_each_element(const Selection& selection, const ConstView& dy, const Body& body) {
  if (dy.elements() == 0) return;
  Dims at;
  for (int axis = 0; axis < dy.shape().rank(); ++axis) at.push_back(0);
  while (true) {
    Dims position;
    for (int axis = 0; axis < selection.shape().rank(); ++axis) position.push_back(selection.axis(axis).start);
    const std::byte* element = dy.data;
    for (int i = 0; i < at.size(); ++i) {
      element += at[i] * dy.layout.strides[i];
      const std::int64_t axis = selection.result_axes()[static_cast<std::size_t>(i)];
      if (axis != Selection::kNewAxis) position[axis] += at[i] * selection.axis(static_cast<int>(axis)).step;
    }
    body(position, element);
    int axis = at.size() - 1;
    while (axis >= 0 && ++at[axis] == dy.shape()[axis]) at[axis--] = 0;
    if (axis < 0) return;
  }
}

void zero(const View& dst) { overwrite(plan_zero(dst.layout, Widen::No), dst.dtype, dst.data, dst.data); }

}  // namespace

void write_slices(std::span<const SliceGradient> slices, const View& dst) {
  zero(dst);
  for (const auto& [selection, dy] : slices) {
    for_each_element(selection, dy, [&](const Dims& position, const std::byte* element) {
      std::byte* to = dst.data;
      for (int axis = 0; axis < position.size(); ++axis) to += position[axis] * dst.layout.strides[axis];
      operations_of(dst.dtype).copy(to, element, 1, dst.layout.item_size);
    });
  }
}

void sum_slices(std::span<const SliceGradient> slices, const View& dst) {
  const ItemOperations& items = operations_of(dst.dtype);
  zero(dst);
  std::vector<bool> covered(static_cast<std::size_t>(dst.elements()));
  for (const auto& [selection, dy] : slices) {
    for_each_element(selection, dy, [&](const Dims& position, const std::byte* element) {
      std::byte* to = dst.data;
      std::size_t flat = 0;
      for (int axis = 0; axis < position.size(); ++axis) {
        to += position[axis] * dst.layout.strides[axis];
        flat = flat * static_cast<std::size_t>(dst.shape()[axis]) + static_cast<std::size_t>(position[axis]);
      }
      covered[flat] ? items.add(to, element, 1) : items.copy(to, element, 1, dst.layout.item_size);
      covered[flat] = true;
    });
  }
}

}  // namespace backslice::reference
