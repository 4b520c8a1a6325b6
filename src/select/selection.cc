#include "backslice/selection.h"

#include <cassert>
#include <ostream>

#include "core/errors.h"
#include "select/axis_math.h"

namespace backslice {
namespace {

// Puts an axis into the canonical form, or returns an error.
Result<Selection::Axis> canonical_axis(Selection::Axis axis, std::int64_t extent, int number) {
  if (axis.count < 0) return invalid_argument("axis ", number, ": count ", axis.count, " must be >= 0");
  if (axis.count == 0) return Selection::Axis{0, 1, 0};
  if (axis.start < 0 || axis.start >= extent) {
    return invalid_argument("axis ", number, ": start ", axis.start, " is outside [0,", extent, ")");
  }
  if (axis.count == 1) return Selection::Axis{axis.start, 1, 1};
  if (axis.step == 0) return invalid_argument("axis ", number, ": step must be non-zero");
  const std::int64_t room = axis.step > 0 ? extent - 1 - axis.start : -axis.start;
  if (room / axis.step < axis.count - 1) {
    return invalid_argument("axis ", number, ": ", counted(axis.count, "index", "indices"), " from ", axis.start,
                            " by ", axis.step, " leave [0,", extent, ")");
  }
  return axis;
}

}  // namespace

Selection Selection::whole(const Shape& shape) {
  Selection selection;
  selection.shape_ = selection.result_shape_ = shape;
  for (int i = 0; i < shape.rank(); ++i) {
    selection.axes_.push_back({0, 1, shape[i]});
    selection.result_axes_.push_back(i);
  }
  return selection;
}

Result<Selection> Selection::of_axes(const Shape& shape, std::span<const Axis> axes, Ints result_axes) {
  return without_throwing([&]() -> Result<Selection> {
    if (axes.size() != static_cast<std::size_t>(shape.rank())) {
      return invalid_argument("axes has ", counted(axes.size(), "entry", "entries"), ", shape ", Ints(shape), " has ",
                              shape.rank())
          .at("axes");
    }
    Axes canonical;
    for (int i = 0; i < shape.rank(); ++i) {
      const auto axis = canonical_axis(axes[static_cast<std::size_t>(i)], shape[i], i);
      if (!axis.ok()) return axis.status().at("axes", i);
      canonical.push_back(*axis);
    }
    std::int64_t next = 0;  // the first input axis not yet visited
    const auto pass_dropped = [&](std::int64_t until) -> Status {
      for (; next < until; ++next) {
        if (canonical[next].count != 1) {
          return invalid_argument("axis ", next, " is dropped and must take one index, not ", canonical[next].count)
              .at("axes", next);
        }
      }
      return Status();
    };
    for (std::int64_t source : result_axes) {
      if (source == kNewAxis) continue;
      if (source < next || source >= shape.rank()) {
        return invalid_argument("result_axes ", result_axes, " must name input axes in ascending order, or -1")
            .at("result_axes");
      }
      BACKSLICE_RETURN_IF_ERROR(pass_dropped(source));
      ++next;
    }
    BACKSLICE_RETURN_IF_ERROR(pass_dropped(shape.rank()));
    return assemble(shape, canonical, result_axes, "result_axes");
  });
}

Result<Selection> Selection::assemble(const Shape& shape, std::span<const Axis> axes, Ints result_axes,
                                      const char* argument) {
  Result<Selection> made{Selection()};
  made->shape_ = shape;
  made->axes_ = Axes(axes);
  if (Status refused = made->set_result(result_axes, argument); !refused.ok()) made = std::move(refused);
  return made;
}

Status Selection::set_result(Ints result_axes, const char* argument) {
  if (result_axes.size() > kMaxRank) {
    return invalid_argument("the result has ", counted(result_axes.size(), "axis", "axes"), "; at most ", kMaxRank,
                            " are supported")
        .at(argument);
  }
  Dims counts;
  for (std::int64_t source : result_axes) {
    counts.push_back(source == kNewAxis ? 1 : axes_[source].count);
    result_axes_.push_back(source);
  }
  if (detail::set_shape(result_shape_, counts)) return Status();
  return Shape::make(counts, "the result's shape").status().at(argument);
}

bool Selection::is_dropped(int axis) const {
  return std::find(result_axes_.begin(), result_axes_.end(), axis) == result_axes_.end();
}

bool Selection::operator==(const Selection& other) const {
  return shape_ == other.shape_ && result_axes_ == other.result_axes_ && axes_ == other.axes_;
}

std::string Selection::explain() const {
  std::string text = join("takes ", result_shape_.elements(), " of ", counted(shape_.elements(), "element", "elements"),
                          ": shape ", Ints(shape_), " -> ", Ints(result_shape_), "\n");
  for (int i = 0; i < shape_.rank(); ++i) {
    const Axis& axis = axes_[i];
    text += join("  axis ", i, " of ", shape_[i], ": start ", axis.start, ", step ", axis.step, ", count ", axis.count,
                 is_dropped(i) ? ", dropped" : "", "\n");
  }
  for (int i = 0; i < result_axes_.size(); ++i) {
    if (result_axes_[i] == kNewAxis) text += join("  result axis ", i, ": new\n");
  }
  return text;
}

std::ostream& operator<<(std::ostream& stream, const Selection& selection) {
  return stream << '[' << to_string(selection.to_index()) << "] of shape " << selection.shape();
}

SelectedLayout select(const Selection& selection, const Layout& layout) {
  assert(layout.shape == selection.shape());
  if (selection.result_shape().elements() == 0) {
    return {0, contiguous_layout(selection.result_shape(), layout.item_size)};
  }
  SelectedLayout selected;
  selected.layout.shape = selection.result_shape();
  selected.layout.item_size = layout.item_size;
  for (std::int64_t source : selection.result_axes()) {
    const int axis = static_cast<int>(source);
    const bool is_new = source == Selection::kNewAxis;
    selected.layout.strides.push_back(is_new ? 0 : layout.strides[axis] * selection.axis(axis).step);
  }
  for (int i = 0; i < layout.shape.rank(); ++i) selected.offset += selection.axis(i).start * layout.strides[i];
  return selected;
}

View select(const Selection& selection, const View& view) {
  const SelectedLayout selected = select(selection, view.layout);
  return {view.data + selected.offset, view.dtype, selected.layout, view.device};
}

ConstView select(const Selection& selection, const ConstView& view) {
  const SelectedLayout selected = select(selection, view.layout);
  return {view.data + selected.offset, view.dtype, selected.layout, view.device};
}

}  // namespace backslice
