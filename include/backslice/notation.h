/// @file
/// The three notations of a slice as text: NumPy's index, TensorFlow's StridedSlice, ONNX's Slice.
///
/// parse_slice reads a slice from text, to_selection lowers it, and forward_code and gradient_code write a selection in
/// each notation, ready to paste:
///
///     Result<SliceText> slice = parse_slice(Dialect::Tf, "begin=1,0 end=3,6 strides=1,2");
///     Result<Selection> s = slice->to_selection({4, 6});
///     forward_code(*s, Dialect::Python);     // y = x[1:3, ::2]
///
/// An error about an argument that was read from text has its span in that text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backslice/selection.h"

namespace backslice {

/// A notation of slices.
enum class Dialect : std::uint8_t { Python, Tf, Onnx };

/// "NumPy", "TensorFlow" or "ONNX".
BACKSLICE_EXPORT std::string_view name(Dialect dialect);

/// A list of integers, and the part of the text that each was read from.
struct IntegerList {
  std::vector<std::int64_t> values;
  std::vector<TextSpan> spans;
};

/// Reads "1,2", "[1, 2]", "(1, 2)" or "1 2"; also hexadecimal, octal and binary, and INT_MAX, INT64_MAX, INT32_MAX,
/// INT_MIN and INT64_MIN. `argument` names the list in the error message.
BACKSLICE_EXPORT Result<IntegerList> parse_integers(std::string_view text, std::string_view argument);

/// A slice by its arguments in one of the notations.
using SliceArguments = std::variant<Index, TfSlice, OnnxSlice>;

/// An argument in a text: all of it, and its entries.
struct ArgumentText {
  std::string name;
  TextSpan whole;
  std::vector<TextSpan> entries;
};

/// A slice that was read from text.
struct SliceText {
  SliceArguments arguments;
  std::vector<ArgumentText> places;

  BACKSLICE_EXPORT Result<Selection> to_selection(Ints shape) const;

  /// Adds the span in the text to an error about one of the arguments; returns other errors unchanged.
  BACKSLICE_EXPORT Status located(Status error) const;
};

/// Reads "1:3, ::2" or "x[1:3, ::2]" for Python, "begin=1,0 end=3,5 begin_mask=1" for TensorFlow, "starts=1 ends=3" for
/// ONNX. Lists may have brackets, as parse_integers says.
BACKSLICE_EXPORT Result<SliceText> parse_slice(Dialect dialect, std::string_view text);

/// The normal form of a slice, by the rules of its notation.
BACKSLICE_EXPORT Result<Selection> to_selection(Ints shape, const SliceArguments& arguments);

/// The selection as the shortest index of NumPy: "1:3, ::2".
BACKSLICE_EXPORT std::string index_text(const Selection& selection);

/// Returns the slice, or its gradient, as code of a notation. The obstacles() for TensorFlow are errors here.
BACKSLICE_EXPORT Result<std::string> forward_code(const Selection& selection, Dialect dialect);
BACKSLICE_EXPORT Result<std::string> gradient_code(const Selection& selection, Dialect dialect);

/// Returns the parts of a selection that a notation's slice alone cannot express, with a remedy: one sentence each.
BACKSLICE_EXPORT std::vector<std::string> obstacles(const Selection& selection, Dialect dialect);

/// Returns the axes on which the same numbers would select something else in another notation: one sentence per axis
/// and notation.
BACKSLICE_EXPORT Result<std::vector<std::string>> disagreements(Ints shape, const SliceArguments& arguments,
                                                                std::span<const Dialect> others);

}  // namespace backslice
