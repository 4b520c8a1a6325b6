// What a gradient will cost and how it will be made, told without touching any memory.
//
//     GradientCost cost = *slice_grad_cost(*Selection::from_index({4096, 4096}, *parse_index("::2")), DType::Float32);
//     cost.bytes_read       32 MiB, all of dy
//     cost.bytes_written    64 MiB, all of dx
//     cost.strategy         Strategy::Streaming: dx is larger than the caches
#pragma once

#include <string>

#include "backslice/selection.h"
#include "backslice/strategy.h"

namespace backslice {

struct GradientCost {
  std::int64_t bytes_read = 0;     // of dy
  std::int64_t bytes_written = 0;  // of dx; of the pages touched where the zeros are fresh
  std::int64_t bytes_result = 0;   // the size of dx
  Strategy strategy = Strategy::Nothing;
  std::int64_t pieces = 1;  // that threads may take
  std::string plan;         // the loops that run, one per line
};

// The cost of slice_grad(selection, dy) for a contiguous dy of that dtype on the default executor. Refuses what
// slice_grad would refuse of these arguments. `item_size` is for DType::Bytes alone.
BACKSLICE_EXPORT Result<GradientCost> slice_grad_cost(const Selection& selection, DType dtype,
                                                      std::int64_t item_size = 0);

}  // namespace backslice
