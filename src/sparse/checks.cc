#include "sparse/checks.h"

#include "core/device.h"
#include "core/errors.h"
#include "core/row_layout.h"
#include "kernels/cuda/memory.h"
#include "ops/checks.h"

namespace backslice {

Status check_rows(const ConstView& values, const char* argument) {
  if (values.shape().rank() >= 1) return Status();
  return invalid_argument(argument, " must be a vector, or have one entry per row along its first axis; got a ",
                          "scalar")
      .at(argument);
}

Status check_length(Ints list, const char* argument, int rank, const char* indices_argument) {
  if (list.size() == static_cast<std::size_t>(rank)) return Status();
  return invalid_argument(argument, " has ", counted(list.size(), "item", "items"), ", expected ", rank,
                          ", one per column of ", indices_argument)
      .at(argument);
}

Status check_size(Ints size, int rank, const char* indices_argument) {
  BACKSLICE_RETURN_IF_ERROR(check_length(size, "size", rank, indices_argument));
  for (std::size_t axis = 0; axis < size.size(); ++axis) {
    if (size[axis] < 0) {
      return invalid_argument("Expected a non-negative size, got ", size[axis], " (size[", axis, "])")
          .at("size", static_cast<std::int64_t>(axis));
    }
  }
  return Status();
}

Status check_apart(const View& out, const char* argument, const CooIndices& indices, const char* indices_argument) {
  for (int axis = 0; axis < indices.rank(); ++axis) {
    BACKSLICE_RETURN_IF_ERROR(check_apart(out, argument, indices.column_view(axis), indices_argument));
  }
  return Status();
}

Status check_indices(const CooIndices& indices, const char* argument, Device device, const char* values_argument) {
  BACKSLICE_RETURN_IF_ERROR(check_same_device(indices.device(), argument, device, values_argument));
  for (int axis = 0; axis < indices.rank() && !device.is_cpu(); ++axis) {
    BACKSLICE_RETURN_IF_ERROR(check_input(indices.column_view(axis), argument, RunsOn::AnyDevice));
  }
  return Status();
}

Status check_device_status(const Context& context, Device device) {
  if (context.device_status == nullptr || device.is_cpu()) return Status();
  if (reinterpret_cast<std::uintptr_t>(context.device_status) % alignof(DeviceStatus) != 0) {
    return invalid_argument("context.device_status is not aligned to ", alignof(DeviceStatus), " bytes")
        .at("context.device_status");
  }
  return cuda::check_memory(context.device_status, device, "context.device_status");
}

void refuse_captured_wait(const DeviceStatus* status, const Call& call) {
  if (status != nullptr || call.device.is_cpu()) return;
  cuda::refuse_capture("this call waits for what the device finds; an _into form with a device_status does not",
                       call.queue());
}

std::int64_t row_bytes(const CooIndices& indices, const ConstView& values) {
  return elements_per_row(values.shape()) * values.layout.item_size + indices.rank() * item_size(indices.dtype());
}

}  // namespace backslice
