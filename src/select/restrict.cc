// Restricts a selection to a box of its input.
//
// This one function divides all work: a box is a thread's piece, a tile, a chunk or a shard.
#include "backslice/selection.h"
#include "core/errors.h"
#include "core/per_axis.h"
#include "select/axis_math.h"

namespace backslice {
namespace {

Status check_box(const Shape& shape, std::span<const Range> box) {
  if (box.size() != static_cast<std::size_t>(shape.rank())) {
    return invalid_argument("box has ", counted(box.size(), "range", "ranges"), ", shape ", Ints(shape), " has ",
                            counted(shape.rank(), "axis", "axes"))
        .at("box");
  }
  for (int i = 0; i < shape.rank(); ++i) {
    const auto [lo, hi] = box[static_cast<std::size_t>(i)];
    if (lo < 0 || lo > hi || hi > shape[i]) {
      return invalid_argument("box[", i, "] is (", lo, ", ", hi, "), not a range within (0, ", shape[i], ") of axis ",
                              i)
          .at("box", static_cast<std::int64_t>(i));
    }
  }
  return Status();
}

}  // namespace

Result<std::optional<Restriction>> Selection::restrict(std::span<const Range> box) const {
  return without_throwing([&]() -> Result<std::optional<Restriction>> {
    BACKSLICE_RETURN_IF_ERROR(check_box(shape_, box));
    Dims extents;
    Axes axes;
    PerAxis<Range> taken;
    for (int i = 0; i < shape_.rank(); ++i) {
      const Range& inside_box = box[static_cast<std::size_t>(i)];
      taken[i] = taken_inside(axes_[i], inside_box);
      if (taken[i].lo >= taken[i].hi) return std::optional<Restriction>();
      extents.push_back(inside_box.hi - inside_box.lo);
      axes.push_back(
          {axes_[i].start + taken[i].lo * axes_[i].step - inside_box.lo, axes_[i].step, taken[i].hi - taken[i].lo});
    }
    const auto shape = Shape::make(extents);
    if (!shape.ok()) return shape.status();
    auto inside = make(*shape, axes, result_axes_);
    if (!inside.ok()) return inside.status();

    Selection dy = all(result_shape_);
    for (int i = 0; i < result_axes_.size(); ++i) {
      if (result_axes_[i] == kNewAxis) continue;
      const Range& range = taken[result_axes_[i]];
      dy.axes_[i] = {range.lo, 1, range.hi - range.lo};
    }
    dy.result_shape_ = inside->result_shape_;
    return std::optional<Restriction>(Restriction{*std::move(inside), std::move(dy)});
  });
}

}  // namespace backslice
