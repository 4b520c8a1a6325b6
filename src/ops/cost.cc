#include "backslice/cost.h"

#include <algorithm>

#include "core/device.h"
#include "core/element_type.h"
#include "core/errors.h"
#include "core/items.h"
#include "kernels/slice/device_plan.h"
#include "ops/call.h"
#include "ops/checks.h"
#include "plan/pages.h"

namespace backslice {
namespace {

void describe_schedule(const Selection& selection, const Layout& dy, DType dtype, GradientCost& cost) {
  const Call call({});
  const Schedule schedule = schedule_new_gradient(selection, dy, call.free_zeros(), dtype);
  cost.strategy = schedule.strategy;
  cost.pieces = schedule.pieces(call.threads());
  cost.plan = to_string(schedule.plan);
  if (cost.strategy == Strategy::FreshZeros) {
    const Layout dx = contiguous_layout(selection.shape(), dy.item_size);
    cost.bytes_written = std::min(cost.bytes_result, pages_touched(selection, dx, page_bytes()) * page_bytes());
  }
}

// CUDA aligns memory to 256 bytes. Nothing is read or written at this address.
std::byte* some_device_memory() { return reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40); }

// Larger than the memory of any device, and small enough to list the kernels.
constexpr std::int64_t kMostDeviceBytes = std::int64_t{1} << 42;

Status describe_kernels(const Selection& selection, const Layout& dy, DType dtype, Device device, GradientCost& cost) {
  if (!are_bytes(dtype)) BACKSLICE_RETURN_IF_ERROR(check_on_cpu(device, "device"));
  if (cost.bytes_result > kMostDeviceBytes) {
    return resource_exhausted("the gradient takes ", cost.bytes_result, " bytes, more than a CUDA device has");
  }
  const Schedule schedule = schedule_new_gradient(selection, dy, FreeZeros::None, dtype);
  const auto kernels = cuda::device_plans(schedule.plan, some_device_memory(), some_device_memory());
  cost.pieces = static_cast<std::int64_t>(kernels.size());
  if (!kernels.empty()) cost.strategy = Strategy::Gather;
  for (const cuda::DevicePlan& kernel : kernels) cost.plan += to_string(kernel);
  return Status();
}

}  // namespace

Result<GradientCost> slice_grad_cost(const Selection& selection, DType dtype, std::int64_t item_size, Device device) {
  return without_throwing([&]() -> Result<GradientCost> {
    const auto size = resolved_item_size(dtype, item_size);
    if (!size.ok()) return size.status();
    item_size = *size;
    BACKSLICE_RETURN_IF_ERROR(check_gradient_dtype(dtype, "dtype", selection, Write::Overwrite));
    const auto read = size_in_bytes(selection.result_shape(), item_size);
    const auto result = size_in_bytes(selection.shape(), item_size);
    if (!read.ok()) return read.status();
    if (!result.ok()) return result.status();
    const Layout dy = contiguous_layout(selection.result_shape(), item_size);
    GradientCost cost;
    cost.bytes_read = *read;
    cost.bytes_result = cost.bytes_written = *result;
    if (!device.is_cpu()) BACKSLICE_RETURN_IF_ERROR(describe_kernels(selection, dy, dtype, device, cost));
    if (device.is_cpu()) describe_schedule(selection, dy, dtype, cost);
    return cost;
  });
}

}  // namespace backslice
