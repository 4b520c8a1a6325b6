#include "grad_buffer/small_update.h"

#include "core/boundary.h"
#include "core/items.h"
#include "ops/small_gradient.h"
#include "select/progression.h"

namespace backslice {
namespace {

bool is_small(std::int64_t elements, std::int64_t item_size) {
  return elements > 0 && item_size > 0 && elements <= SmallMove::kMostBytes / item_size;
}

// The elements of a region, for SmallMove::zero(). Returns nullopt if they are many.
std::optional<SmallMove> elements_of(const Selection& region, const Layout& layout) {
  if (!is_small(region.result_shape().elements(), layout.item_size)) return std::nullopt;
  SmallMove move(layout.item_size);
  for (int i = 0; i < region.shape().rank(); ++i) {
    const auto& [start, step, count] = region.axis(i);
    const std::int64_t stride = layout.strides[i];
    move.skip(start * stride, 0);
    move.add_axis(count, step * stride, step * stride);
  }
  move.finish();
  return move.is_short() ? std::optional(move) : std::nullopt;
}

// Allocates nothing, and cannot fail.
Selection whole_region(const Shape& shape, const Selection::Axes& axes) {
  Dims all;
  for (int i = 0; i < shape.rank(); ++i) all.push_back(i);
  return throwing::unwrap(Selection::make(shape, std::span(axes.begin(), axes.end()), all));
}

}  // namespace

std::optional<SmallUpdate> SmallUpdate::of(const Selection& selection, const ConstView& dy, const ConstView& buffer) {
  const bool fits = are_bytes(dy.dtype) && dy.device.is_cpu() && is_small(dy.elements(), dy.layout.item_size) &&
                    buffer.shape().rank() <= SmallMove::kMostAxes;
  if (!fits) return std::nullopt;
  SmallUpdate update{{}, small_scatter(selection, buffer.layout, dy.layout), dy.data};
  if (!update.move.is_short()) return std::nullopt;
  for (int i = 0; i < buffer.shape().rank(); ++i) {
    const Progression taken = ascending(selection.axis(i));
    update.region.push_back({taken.start, taken.step, taken.count});
  }
  return update;
}

bool SmallUpdate::is_region(const Selection& other) const {
  for (int i = 0; i < region.size(); ++i) {
    if (other.axis(i) != region[i]) return false;
  }
  return true;
}

bool SmallUpdate::write(GradBuffer& buffer) const {
  auto& regions = buffer.regions_;
  if (regions.size() > 1) return false;
  auto* const data = const_cast<std::byte*>(buffer.tensor_.data());
  if (regions.empty()) {
    regions.push_back(whole_region(buffer.tensor_.shape(), region));  // for which there is room
  } else if (!is_region(regions[0])) {
    const std::optional<SmallMove> old = elements_of(regions[0], buffer.tensor_.view().layout);
    if (!old) return false;
    regions[0] = whole_region(buffer.tensor_.shape(), region);
    old->zero(data);
  }
  move.copy(data, dy);
  return true;
}

bool SmallUpdate::add(GradBuffer& buffer) const {
  if (buffer.regions_.size() != 1 || !is_region(buffer.regions_[0])) return false;
  return move.add(buffer.tensor_.dtype(), const_cast<std::byte*>(buffer.tensor_.data()), dy);
}

}  // namespace backslice
