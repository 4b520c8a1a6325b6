// Arguments and results of the ragged operations: lists of views as a RaggedView, a RaggedSize as a C struct.
#pragma once

#include "backslice/c/ragged.h"
#include "backslice/ragged_view.h"
#include "capi/structs.h"
#include "ragged/named.h"

namespace backslice::capi {

// C's arguments for a RaggedView.
inline constexpr RaggedViewNames kOutputNames{.splits = "out_splits", .values = "out_values", .count = "count"};

inline RaggedView ragged_view_of(const backslice_view* splits, std::int32_t count, const backslice_view* values) {
  return {views_of(splits, count, "out_splits"), view_of(values, "out_values")};
}

Status set_size(StructOut<backslice_ragged_size>& out, const RaggedSize& from);

}  // namespace backslice::capi
