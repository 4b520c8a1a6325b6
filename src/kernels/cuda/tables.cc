#include "kernels/cuda/tables.h"

#include "kernels/cuda/runtime.h"
#include "kernels/cuda/table_pages.h"

namespace backslice::cuda {

Buffer Tables::upload(Allocator& allocator, DeviceStream queue) const {
  Buffer memory =
      throwing::unwrap(allocator.allocate(static_cast<std::int64_t>(bytes_.size()), Contents::Uninitialised));
  const DeviceGuard guard(queue.ordinal);
  check(upload_pages(bytes_.data(), bytes_.size(), memory.data(), queue.stream), "copy_page", queue.ordinal);
  return memory;
}

}  // namespace backslice::cuda
