#include "backslice/cost.h"

#include <algorithm>

#include "core/errors.h"
#include "ops/call.h"
#include "ops/checks.h"
#include "plan/pages.h"

namespace backslice {

Result<GradientCost> slice_grad_cost(const Selection& selection, DType dtype, std::int64_t item_size) {
  return without_throwing([&]() -> Result<GradientCost> {
    BACKSLICE_RETURN_IF_ERROR(check_gradient_dtype(dtype, selection, Write::Overwrite));
    if (dtype != DType::Bytes) item_size = backslice::item_size(dtype);
    if (item_size < 0) return invalid_argument("item_size is ", item_size, ", expected at least 0");
    const auto read = size_in_bytes(selection.result_shape(), item_size);
    const auto result = size_in_bytes(selection.shape(), item_size);
    if (!read.ok()) return read.status();
    if (!result.ok()) return result.status();
    const Layout dy = contiguous_layout(selection.result_shape(), item_size);
    const Call call({});
    const Schedule schedule = schedule_new_gradient(selection, dy, call.allocator.has_free_zeros(), dtype);
    GradientCost cost;
    cost.bytes_read = *read;
    cost.bytes_result = cost.bytes_written = *result;
    cost.strategy = schedule.strategy;
    cost.pieces = call.kernel(schedule).pieces;
    cost.plan = to_string(schedule.plan);
    if (cost.strategy == Strategy::FreshZeros) {
      const Layout dx = contiguous_layout(selection.shape(), item_size);
      cost.bytes_written = std::min(*result, pages_touched(selection, dx, page_bytes()) * page_bytes());
    }
    return cost;
  });
}

}  // namespace backslice
