#include "backslice/selection.h"

#include "capi/handles.h"

using namespace backslice;
using namespace backslice::capi;

namespace {

// Makes a selection; calls `make` once the destination is checked.
template <class Make>
int32_t make_selection(backslice_selection** out, const Make& make) {
  return guarded([&] {
    not_null(out, "out");
    return give(out, unwrap(make()));
  });
}

std::vector<Selection::Axis> axes_of(const backslice_axis* axes, const Shape& shape) {
  std::vector<Selection::Axis> made;
  for (const backslice_axis& axis : items(axes, shape.rank(), "axes", "shape.size")) {
    made.push_back({axis.start, axis.step, axis.count});
  }
  return made;
}

}  // namespace

int32_t backslice_selection_from_index(backslice_ints shape, backslice_string index, backslice_selection** out) {
  return make_selection(out, [&] { return Selection::from_index(ints_of(shape, "shape"), text_of(index, "index")); });
}

int32_t backslice_selection_from_tf(backslice_ints shape, const backslice_tf_slice* spec, backslice_selection** out) {
  return make_selection(out, [&] { return selection_from_tf(ints_of(shape, "shape"), tf_lists_of(spec)); });
}

int32_t backslice_selection_from_onnx(backslice_ints shape, const backslice_onnx_slice* spec,
                                      backslice_selection** out) {
  return make_selection(out, [&] { return Selection::from_onnx(ints_of(shape, "shape"), onnx_slice_of(spec)); });
}

int32_t backslice_selection_from_begin_size(backslice_ints shape, backslice_ints begin, backslice_ints size,
                                            backslice_selection** out) {
  return make_selection(out, [&] {
    return Selection::from_begin_size(ints_of(shape, "shape"), ints_of(begin, "begin"), ints_of(size, "size"));
  });
}

int32_t backslice_selection_all(backslice_ints shape, backslice_selection** out) {
  return make_selection(out, [&]() -> Result<Selection> { return Selection::all(shape_of(shape, "shape")); });
}

int32_t backslice_selection_make(backslice_ints shape, const backslice_axis* axes, backslice_ints result_axes,
                                 backslice_selection** out) {
  return make_selection(out, [&] {
    const Shape whole = shape_of(shape, "shape");
    return Selection::make(whole, axes_of(axes, whole), ints_of(result_axes, "result_axes"));
  });
}

int32_t backslice_selection_shape(const backslice_selection* selection, int64_t shape[BACKSLICE_MAX_RANK],
                                  int32_t* rank) {
  return guarded([&] { return ShapeOut(shape, "shape", rank, "rank").set(get(selection, "selection").shape()); });
}

int32_t backslice_selection_result_shape(const backslice_selection* selection, int64_t shape[BACKSLICE_MAX_RANK],
                                         int32_t* rank) {
  return guarded(
      [&] { return ShapeOut(shape, "shape", rank, "rank").set(get(selection, "selection").result_shape()); });
}

int32_t backslice_selection_axes(const backslice_selection* selection, backslice_axis axes[BACKSLICE_MAX_RANK],
                                 int64_t result_axes[BACKSLICE_MAX_RANK]) {
  return guarded([&] {
    const Selection& of = get(selection, "selection");
    not_null(axes, "axes");
    not_null(result_axes, "result_axes");
    for (int i = 0; i < of.shape().rank(); ++i) axes[i] = {of.axis(i).start, of.axis(i).step, of.axis(i).count};
    std::copy(of.result_axes().begin(), of.result_axes().end(), result_axes);
    return Status();
  });
}

int32_t backslice_selection_restrict(const backslice_selection* selection, const backslice_range* box, int32_t count,
                                     backslice_selection** inside, backslice_selection** dy) {
  return guarded([&] {
    const Selection& of = get(selection, "selection");
    not_null(inside, "inside");
    not_null(dy, "dy");
    std::vector<Range> ranges;
    for (const backslice_range& range : items(box, count, "box", "count", BACKSLICE_MAX_RANK)) {
      ranges.push_back({range.lo, range.hi});
    }
    const auto found = unwrap(of.restrict(ranges));
    if (!found) {
      *inside = *dy = nullptr;
      return Status();
    }
    auto part = new_handle<backslice_selection>(found->selection);
    give(dy, new_handle<backslice_selection>(found->dy));
    give(inside, std::move(part));
    return Status();
  });
}
