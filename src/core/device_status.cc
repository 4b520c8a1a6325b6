#include "backslice/device_status.h"

#include "core/errors.h"

namespace backslice {

Status to_status(const DeviceStatus& status) {
  return without_throwing([&] {
    if (status.refused == 0) return Status();
    return Status(StatusCode::Internal,
                  join("the device found ", status.found, " of the rows that were given, expected ", status.expected,
                       "; nothing was written"));
  });
}

}  // namespace backslice
