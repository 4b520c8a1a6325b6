// The arguments of a dialect's slice as a dict of keywords.
#pragma once

#include "backslice/tf_slice.h"
#include "bindings/index.h"

namespace backslice::python {

inline nb::dict to_dict(const TfSlice& slice) {
  nb::dict dict;
  dict["begin"] = to_list(slice.begin);
  dict["end"] = to_list(slice.end);
  dict["strides"] = to_list(slice.strides);
  dict["begin_mask"] = slice.begin_mask;
  dict["end_mask"] = slice.end_mask;
  dict["ellipsis_mask"] = slice.ellipsis_mask;
  dict["new_axis_mask"] = slice.new_axis_mask;
  dict["shrink_axis_mask"] = slice.shrink_axis_mask;
  return dict;
}

}  // namespace backslice::python
