// Dialects: each lowers to the normal form that its specification defines, every selection round-trips through all of
// them, and restrict() finds the elements in a box. Any integers, and shapes from scalars to products past int64.
#include "fuzz/input.h"
#include "fuzz/must.h"
#include "fuzz/naive_slice.h"

namespace backslice::fuzz {
namespace {

TfSlice any_tf(Input& in, const Numbers& shape) {
  TfSlice slice;
  const auto entries = in.one_in(16) ? in.within(0, 34) : in.within(0, static_cast<std::int64_t>(shape.size()) + 2);
  for (std::int64_t e = 0; e < entries; ++e) {
    const std::int64_t extent = e < static_cast<std::int64_t>(shape.size()) ? shape[static_cast<std::size_t>(e)] : 4;
    slice.begin.push_back(in.position(extent));
    slice.end.push_back(in.position(extent));
    slice.strides.push_back(in.one_in(4) ? in.integer() : in.within(-3, 3));
  }
  if (in.one_in(32)) slice.end.push_back(0);
  for (std::int32_t* mask :
       {&slice.begin_mask, &slice.end_mask, &slice.ellipsis_mask, &slice.new_axis_mask, &slice.shrink_axis_mask}) {
    if (in.flag()) *mask = static_cast<std::int32_t>(in.one_in(8) ? in.integer() : in.within(0, 15));
  }
  return slice;
}

OnnxSlice any_onnx(Input& in, const Numbers& shape) {
  OnnxSlice slice;
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (in.flag()) slice.axes.emplace();
  if (in.flag()) slice.steps.emplace();
  for (std::int64_t e = in.within(0, rank); e > 0; --e) {
    const std::int64_t extent = in.pick(shape);
    slice.starts.push_back(in.position(extent));
    slice.ends.push_back(in.one_in(6) ? std::numeric_limits<std::int32_t>::max() : in.position(extent));
    if (slice.axes) slice.axes->push_back(in.one_in(16) ? in.integer() : in.within(-rank, rank - 1));
    if (slice.steps) slice.steps->push_back(in.one_in(4) ? in.integer() : in.within(-3, 3));
  }
  if (in.one_in(32)) slice.ends.push_back(0);
  return slice;
}

// Checks that every axis is in the canonical form, inside its extent, and has the right count.
void check_canonical(const Selection& s) {
  for (int i = 0; i < s.shape().rank(); ++i) {
    const Selection::Axis& axis = s.axis(i);
    const Wide last = Wide{axis.start} + Wide{axis.count - 1} * axis.step;
    must(axis.count >= 0 && (axis.count > 0 || axis == Selection::Axis{0, 1, 0}), "an axis that takes nothing");
    must(axis.count == 0 || (axis.start >= 0 && axis.start < s.shape()[i] && last >= 0 && last < s.shape()[i]),
         "an axis lies inside its extent");
    must(axis.count != 1 || axis.step == 1, "one index has step 1");
  }
  must(!s.explain().empty(), "a selection can be explained");
}

void check_onnx(const Selection& s) {
  const OnnxNodes nodes = s.to_onnx();
  const Selection sliced = must_get(Selection::from_onnx(s.shape(), nodes.slice), "to_onnx's slice");
  Numbers dims;
  for (int i = 0; i < s.shape().rank(); ++i) {
    must(sliced.axis(i) == s.axis(i), "ONNX's Slice takes the same indices");
    if (std::ranges::count(nodes.squeeze, i) == 0) dims.push_back(s.axis(i).count);
  }
  for (std::int64_t axis : nodes.unsqueeze) dims.insert(dims.begin() + axis, 1);
  must(std::ranges::equal(dims, Ints(s.result_shape())), "Squeeze and Unsqueeze give the result's shape");
}

void check_round_trips(const Selection& s) {
  const Index index = s.to_index();
  must(must_get(Selection::from_index(s.shape(), index), "to_index") == s, "from_index(to_index) is the same");
  const Index parsed = must_get(parse_index(to_string(index)), "the text of to_index");
  must(must_get(Selection::from_index(s.shape(), parsed), "its index") == s, "the text of to_index is the same");
  const auto tf = s.to_tf();
  if (tf.ok()) {
    must(must_get(Selection::from_tf(s.shape(), *tf), "to_tf") == s, "from_tf(to_tf) is the same: " + s.explain());
  } else {
    must(tf.status().code() == StatusCode::Unimplemented && index.size() > 31, "what TensorFlow cannot say");
  }
  check_onnx(s);
  std::vector<Selection::Axis> axes;
  for (int i = 0; i < s.shape().rank(); ++i) axes.push_back(s.axis(i));
  must(must_get(Selection::make(s.shape(), axes, s.result_axes()), "its own axes") == s, "make() of its own axes");
}

// Checks the part of a selection inside [lo, hi) of each axis: its indices along each axis, and their positions in dy.
void check_restriction(const Selection& s, const std::vector<Range>& box, const std::optional<Restriction>& found) {
  bool meets = true;
  std::vector<Numbers> places(box.size()), inside(box.size());
  for (std::size_t i = 0; i < box.size(); ++i) {
    const Selection::Axis& axis = s.axis(static_cast<int>(i));
    for (std::int64_t k = 0; k < axis.count; ++k) {
      const std::int64_t at = axis.start + k * axis.step;
      if (at < box[i].lo || at >= box[i].hi) continue;
      places[i].push_back(k);
      inside[i].push_back(at - box[i].lo);
    }
    meets &= !places[i].empty();
  }
  must(found.has_value() == meets, "restrict finds something where they meet");
  if (!meets) return;
  NaiveSlice part{inside, Numbers(s.result_axes().begin(), s.result_axes().end())}, dy;
  for (std::size_t i = 0; i < part.result_axes.size(); ++i) {
    const std::int64_t axis = part.result_axes[i];
    dy.axes.push_back(axis == Selection::kNewAxis ? Numbers{0} : places[static_cast<std::size_t>(axis)]);
    dy.result_axes.push_back(static_cast<std::int64_t>(i));
  }
  must(matches(found->selection, part), "what is inside the box: " + found->selection.explain());
  must(matches(found->dy, dy), "the part of dy: " + found->dy.explain());
  must(found->dy.shape() == s.result_shape() && found->dy.result_shape() == found->selection.result_shape(),
       "the shapes fit each other");
}

void check_restrict(Input& in, const Selection& s, bool small) {
  std::vector<Range> box;
  bool valid = true;
  for (std::int64_t extent : s.shape()) {
    Range range{in.one_in(16) ? in.integer() : in.within(0, extent), extent};
    if (in.flag())
      range.hi = in.one_in(16) ? in.integer() : in.within(std::clamp<std::int64_t>(range.lo, 0, extent), extent);
    valid &= range.lo >= 0 && range.lo <= range.hi && range.hi <= extent;
    box.push_back(range);
  }
  if (in.one_in(32)) valid = (box.push_back({}), false);
  const auto found = s.restrict(box);
  if (!small) return;  // a huge box may have too many elements for a Shape
  if (agree(found.status(), valid, "restrict") && small) check_restriction(s, box, *found);
}

void check(Input& in, const Result<Selection>& s, const std::optional<NaiveSlice>& model, bool small) {
  if (small && agree(s.status(), model.has_value(), "this slice")) {
    must(matches(*s, *model), "the normal form is the model's: " + s->explain());
  }
  if (!s.ok()) return must(!s.status().message().empty(), "an error has a message");
  check_canonical(*s);
  check_round_trips(*s);
  check_restrict(in, *s, small);
}

}  // namespace
}  // namespace backslice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace backslice::fuzz;
  using backslice::Selection;
  Input in(data, size);
  const bool small = !in.one_in(4);
  const bool many_axes = in.one_in(16);
  const Numbers shape = !small ? in.huge_shape(4) : many_axes ? in.small_shape(32, 2) : in.small_shape(4, 9);
  const auto model = [&](auto naive, const auto& slice) { return small ? naive(shape, slice) : std::nullopt; };
  switch (in.within(0, 2)) {
    case 0: {
      const backslice::Index index = in.index(shape);
      check(in, Selection::from_index(shape, index), model(naive_index, index), small);
      break;
    }
    case 1: {
      const backslice::TfSlice slice = any_tf(in, shape);
      check(in, Selection::from_tf(shape, slice), model(naive_tf, slice), small);
      break;
    }
    case 2: {
      const backslice::OnnxSlice slice = shape.empty() ? backslice::OnnxSlice{} : any_onnx(in, shape);
      check(in, Selection::from_onnx(shape, slice), model(naive_onnx, slice), small);
      break;
    }
  }
  return 0;
}
