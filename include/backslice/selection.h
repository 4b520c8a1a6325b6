/// @file
/// Selection: which elements of a tensor a slice takes, in which order. The normal form of every dialect.
///
/// Each axis of the input takes `count` indices: start, start + step, start + 2*step, ... There is no stop, so nothing
/// is ambiguous. An axis may be dropped from the result (an integer index), and the result may have new axes of
/// extent 1. TensorFlow, ONNX and NumPy arguments each lower to this form in one pure function; everything after that
/// works on this form alone.
///
///     Result<Selection> s = Selection::from_index({4, 5}, "1:3, ::-2");
///     // axis 0: start 1, step 1, count 2
///     // axis 1: start 4, step -2, count 3      result shape [2, 3]
///
/// The form is canonical: two selections are equal when they take the same elements of the same shape in the same
/// order into the same result shape. (An axis that takes nothing has start 0, step 1; one that takes a single index
/// has step 1.)
#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backslice/index.h"
#include "backslice/onnx_slice.h"
#include "backslice/shape.h"
#include "backslice/tf_slice.h"
#include "backslice/view.h"

namespace backslice {

struct Restriction;
struct TfLists;

/// A half-open range of one axis.
struct Range {
  std::int64_t lo = 0, hi = 0;
};

/// A slice of a tensor of one shape, in its normal form.
class BACKSLICE_EXPORT Selection {
 public:
  /// The selected indices of one axis: start, start + step, ..., `count` of them.
  struct Axis {
    std::int64_t start = 0, step = 1, count = 0;
    friend bool operator==(const Axis&, const Axis&) = default;
  };
  using Axes = InlineVector<Axis>;

  /// In result_axes(): an axis of the result that does not exist in the input.
  static constexpr std::int64_t kNewAxis = -1;

  /// The whole tensor. A Shape is not checked again, and cannot fail.
  static Result<Selection> all(Ints shape) {
    return Shape::make(shape).transform([](const Shape& checked) { return whole(checked); });
  }
  template <std::same_as<Shape> Checked>
  static Selection all(const Checked& shape) {
    return whole(shape);
  }

  /// Makes a Selection from the normal form: one Axis per input axis, and for each result axis its input axis or
  /// kNewAxis, in order. An input axis that is missing in result_axes is dropped, and must have count 1.
  static Result<Selection> make(Ints shape, std::span<const Axis> axes, Ints result_axes) {
    return Shape::make(shape).and_then([&](const Shape& checked) { return of_axes(checked, axes, result_axes); });
  }
  template <std::same_as<Shape> Checked>
  static Result<Selection> make(const Checked& shape, std::span<const Axis> axes, Ints result_axes) {
    return of_axes(shape, axes, result_axes);
  }

  /// Makes a Selection from TensorFlow's, ONNX's or NumPy's notation, each by its own rules for bounds.
  static Result<Selection> from_tf(Ints shape, const TfSlice& slice);
  static Result<Selection> from_onnx(Ints shape, const OnnxSlice& slice);
  static Result<Selection> from_index(Ints shape, const Index& index);

  /// Makes a Selection from the text of a NumPy index, as parse_index reads it: from_index({4, 5}, "1:3, ::-2"). An
  /// error has the span of the wrong item.
  template <std::convertible_to<std::string_view> Text>
  static Result<Selection> from_index(Ints shape, const Text& index) {
    return parse_index_text(index).and_then([&](const IndexText& read) { return from_index_text(shape, read); });
  }
  template <detail::ConvertsToInt64 T>
  static Result<Selection> from_index(Ints shape, T index) = delete;  // an integer is an item: from_index(shape, {n})
  static Result<Selection> from_index_text(Ints shape, const IndexText& index);

  /// Makes a Selection from the arguments of TensorFlow's Slice, one entry per axis: x[begin : begin + size]; a size of
  /// -1 is the rest of the axis. Nothing counts from the end, and a slice that does not fit is InvalidArgument.
  static Result<Selection> from_begin_size(Ints shape, Ints begin, Ints size);

  /// The way back: from_x(shape, to_x()) is this selection again. TensorFlow cannot express a selection that needs 32
  /// entries or more: Unimplemented.
  Result<TfSlice> to_tf() const;
  OnnxNodes to_onnx() const;
  Index to_index() const;

  /// Returns the part inside a box of the input (one Range per axis), or nullopt if it is empty.
  Result<std::optional<Restriction>> restrict(std::span<const Range> box) const;

  const Shape& shape() const& BACKSLICE_LIFETIME_BOUND { return shape_; }  ///< Of the input.
  Shape shape() const&& { return shape_; }
  const Shape& result_shape() const& BACKSLICE_LIFETIME_BOUND { return result_shape_; }  ///< Of the slice and of dy.
  Shape result_shape() const&& { return result_shape_; }
  /// For each result axis: its input axis, or kNewAxis.
  Ints result_axes() const& BACKSLICE_LIFETIME_BOUND { return result_axes_; }
  Dims result_axes() const&& { return result_axes_; }
  const Axis& axis(int i) const& BACKSLICE_LIFETIME_BOUND { return axes_[i]; }  ///< What input axis i takes.
  Axis axis(int i) const&& { return axes_[i]; }
  bool is_dropped(int axis) const;  ///< Whether the result lacks this input axis.
  bool is_whole(int axis) const { return axes_[axis] == Axis{0, 1, shape_[axis]}; }  ///< Whether `:` selects the same.

  /// Whether every element of the input is selected, so that a gradient needs no zeros.
  bool covers_input() const { return result_shape_.elements() == shape_.elements(); }

  /// The normal form in words, one line per axis.
  std::string explain() const;

  bool operator==(const Selection& other) const;

 private:
  friend Result<Selection> selection_from_tf(Ints shape, const TfLists& lists);

  Selection() {}  // not defaulted: Selection() would zero all that fits

  static Selection whole(const Shape& shape);
  static Result<Selection> of_axes(const Shape& shape, std::span<const Axis> axes, Ints result_axes);

  // Does make() for canonical axes, which are dropped only if they may be. Errors are about `argument`.
  static Result<Selection> assemble(const Shape& shape, std::span<const Axis> axes, Ints result_axes,
                                    const char* argument);

  // The last step of it, once the axes are known.
  Status set_result(Ints result_axes, const char* argument);

  Shape shape_, result_shape_;
  Axes axes_;
  Dims result_axes_;
};

/// "[1:3, 4::-2] of shape [4,5]"
BACKSLICE_EXPORT std::ostream& operator<<(std::ostream& stream, const Selection& selection);

/// The result of restrict().
struct Restriction {
  Selection selection;  ///< In the coordinates of the box.
  Selection dy;         ///< The part of the result, and so of dy, that falls inside.
};

/// The selected elements as a view of the same memory. Precondition: the view has selection.shape().
BACKSLICE_EXPORT View select(const Selection& selection, const View& view);
BACKSLICE_EXPORT ConstView select(const Selection& selection, const ConstView& view);

/// The layout of selected elements, and the offset of the first.
struct SelectedLayout {
  std::int64_t offset = 0;  ///< Bytes from the first element of the layout to the first that is selected.
  Layout layout;
};

/// The same for a layout alone.
BACKSLICE_EXPORT SelectedLayout select(const Selection& selection, const Layout& layout);

}  // namespace backslice
