/// @file
/// OnnxSlice: the arguments of ONNX's Slice.
///
/// starts, ends and steps say how each of `axes` is sliced, in any order; the other axes stay whole. Axes that are
/// not given are 0, 1, ...; steps that are not given are 1.
///
///     x[:, 4:1:-1]  is  OnnxSlice{.starts = {4}, .ends = {1}, .axes = {{1}}, .steps = {{-1}}}
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace backslice {

/// The arguments of ONNX's Slice.
struct OnnxSlice {
  std::vector<std::int64_t> starts = {}, ends = {};
  std::optional<std::vector<std::int64_t>> axes = {}, steps = {};

  friend bool operator==(const OnnxSlice&, const OnnxSlice&) = default;
};

/// The ONNX nodes that express any selection: Slice(slice), then Squeeze(squeeze), then Unsqueeze(unsqueeze).
struct OnnxNodes {
  OnnxSlice slice;
  std::vector<std::int64_t> squeeze;    ///< Axes of the sliced tensor that are dropped.
  std::vector<std::int64_t> unsqueeze;  ///< Axes of the result that are new.

  friend bool operator==(const OnnxNodes&, const OnnxNodes&) = default;
};

}  // namespace backslice
