#include "backslice/cost.h"

#include <algorithm>

#include "backslice/slice.h"
#include "core/errors.h"
#include "kernels/slice/kernel.h"
#include "ops/checks.h"
#include "plan/pages.h"
#include "plan/strategy.h"

namespace backslice {
namespace {

Strategy strategy_for(const Selection& selection, DType dtype, const Layout& dx, std::int64_t bytes) {
  if (bytes == 0) return Strategy::Nothing;
  if (dtype == DType::String) return Strategy::OneByOne;
  if (prefers_fresh_zeros(selection, dx)) return Strategy::FreshZeros;
  return prefers_streaming(bytes) ? Strategy::Streaming : Strategy::Cached;
}

}  // namespace

std::string_view name(Strategy strategy) {
  switch (strategy) {
    case Strategy::Nothing: return "nothing";
    case Strategy::FreshZeros: return "fresh zeros";
    case Strategy::Cached: return "cached";
    case Strategy::Streaming: return "streaming";
    case Strategy::OneByOne: return "one by one";
  }
  return "unknown";
}

Result<GradientCost> slice_grad_cost(const Selection& selection, DType dtype, std::int64_t item_size) {
  return without_throwing([&]() -> Result<GradientCost> {
    BACKSLICE_RETURN_IF_ERROR(check_gradient_dtype(dtype, selection, {}));
    if (dtype != DType::Bytes) item_size = backslice::item_size(dtype);
    if (item_size < 0) return invalid_argument("item_size is ", item_size, ", expected at least 0");
    const auto read = size_in_bytes(selection.result_shape(), item_size);
    const auto result = size_in_bytes(selection.shape(), item_size);
    if (!read.ok()) return read.status();
    if (!result.ok()) return result.status();
    const Layout dx = contiguous_layout(selection.shape(), item_size);
    const Layout dy = contiguous_layout(selection.result_shape(), item_size);
    GradientCost cost;
    cost.bytes_read = *read;
    cost.bytes_result = cost.bytes_written = *result;
    cost.strategy = strategy_for(selection, dtype, dx, *result);
    if (cost.strategy == Strategy::FreshZeros) {
      cost.bytes_written = std::min(*result, pages_touched(selection, dx, page_bytes()) * page_bytes());
    }
    const std::int64_t moved = cost.strategy == Strategy::FreshZeros ? *read : *result;
    const bool in_parallel = cost.strategy != Strategy::OneByOne && moved >= kParallelBytes;
    if (in_parallel) cost.pieces = pieces_for(moved, num_threads());
    cost.plan = plan_scatter(selection, dx, dy, widen_for(dtype));
    return cost;
  });
}

}  // namespace backslice
