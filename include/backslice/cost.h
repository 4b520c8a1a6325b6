/// @file
/// What a gradient will cost and how it will be made, told without touching any memory.
///
///     Result<Selection> half = Selection::from_index({4096, 4096}, "::2");
///     if (!half) return half.status();
///     Result<GradientCost> cost = slice_grad_cost(*half, DType::Float32);
///     // cost->bytes_read       32 MiB, all of dy
///     // cost->bytes_written    64 MiB, all of dx
///     // cost->strategy         Strategy::Streaming: dx is larger than the caches
#pragma once

#include <string>

#include "backslice/device.h"
#include "backslice/selection.h"
#include "backslice/strategy.h"

namespace backslice {

/// The work of a gradient.
struct GradientCost {
  std::int64_t bytes_read = 0;     ///< Of dy.
  std::int64_t bytes_written = 0;  ///< Of dx; with fresh zeros, of the touched pages.
  std::int64_t bytes_result = 0;   ///< The size of dx.
  Strategy strategy = Strategy::Nothing;
  std::int64_t pieces = 1;  ///< How many pieces threads may take; on CUDA, how many kernels run.
  std::string plan;         ///< The loops that run, one per line; on CUDA, after a line for each kernel.
};

/// Returns the cost of slice_grad(selection, dy) for a contiguous dy of that dtype on the default executor, or on a
/// CUDA device, which need not exist. Refuses the arguments that slice_grad would refuse. `item_size` is for
/// DType::Bytes only.
BACKSLICE_EXPORT Result<GradientCost> slice_grad_cost(const Selection& selection, DType dtype,
                                                      std::int64_t item_size = kItemSizeOfDType, Device device = {});

}  // namespace backslice
