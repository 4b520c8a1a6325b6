// The arguments of the two dialects, read from Python.
#pragma once

#include "backslice/onnx_slice.h"
#include "backslice/tf_slice.h"
#include "bindings/arguments.h"

namespace backslice::python {

// begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask, not read yet.
struct TfMasks {
  nb::handle begin, end, ellipsis, new_axis, shrink_axis;
};

inline TfSlice read_tf_slice(IntReader& reader, nb::handle begin, nb::handle end, nb::handle strides,
                             const TfMasks& masks) {
  std::vector<std::int64_t> first = reader.read(begin, "begin"), last = reader.read(end, "end");
  // None means a stride of 1 in every position.
  std::vector<std::int64_t> steps =
      strides.is_none() ? std::vector<std::int64_t>(first.size(), 1) : reader.read(strides, "strides");
  return {.begin = std::move(first),
          .end = std::move(last),
          .strides = std::move(steps),
          .begin_mask = read_mask(masks.begin, "begin_mask"),
          .end_mask = read_mask(masks.end, "end_mask"),
          .ellipsis_mask = read_mask(masks.ellipsis, "ellipsis_mask"),
          .new_axis_mask = read_mask(masks.new_axis, "new_axis_mask"),
          .shrink_axis_mask = read_mask(masks.shrink_axis, "shrink_axis_mask")};
}

inline OnnxSlice read_onnx_slice(nb::handle starts, nb::handle ends, nb::handle axes, nb::handle steps) {
  IntReader reader{NPY_INT32, NPY_INT64};
  OnnxSlice slice{.starts = reader.read(starts, "starts"), .ends = reader.read(ends, "ends")};
  if (!axes.is_none()) slice.axes = reader.read(axes, "axes");
  if (!steps.is_none()) slice.steps = reader.read(steps, "steps");
  return slice;
}

}  // namespace backslice::python
