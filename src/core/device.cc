#include "core/device.h"

#include "core/errors.h"

namespace backslice {

std::string to_string(Device device) { return device.is_cpu() ? "the CPU" : join("cuda:", device.ordinal); }

Status check_on_cpu(Device device, std::string_view argument) {
  if (device.is_cpu()) return Status();
  return unimplemented(argument, " is on ", to_string(device), ", where this operation cannot run").at(argument);
}

Status check_same_device(Device device, std::string_view argument, Device other, std::string_view other_argument) {
  if (device == other) return Status();
  return invalid_argument(argument, " is on ", to_string(device), ", but ", other_argument, " is on ", to_string(other))
      .at(argument);
}

}  // namespace backslice
