#include <algorithm>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/portable.h"
#include "kernels/cuda/tables.h"

namespace backslice::cuda {
namespace {

// What fits the arguments of a kernel: little for most tables, all that CUDA allows for long ones.
template <int kVectors>
struct Page {
  Vector vectors[kVectors];
};
using SmallPage = Page<240>;
using LargePage = Page<2032>;

template <class AnyPage>
__global__ void copy_page(const __grid_constant__ AnyPage page, Vector* to, int vectors) {
  for (int i = static_cast<int>(threadIdx.x); i < vectors; i += kBlock) to[i] = page.vectors[i];
}

template <class AnyPage>
void upload_pages(const std::vector<std::byte>& bytes, std::byte* to, DeviceStream queue) {
  AnyPage page;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(page)) {
    const std::size_t now = std::min(sizeof(page), bytes.size() - at);
    std::memcpy(&page, bytes.data() + at, now);
    launch_blocks(copy_page<AnyPage>, "copy_page", 1, queue, page, reinterpret_cast<Vector*>(to + at),
                  static_cast<int>(now / 16));
  }
}

}  // namespace

Buffer Tables::upload(Allocator& allocator, DeviceStream queue) const {
  Buffer memory =
      throwing::unwrap(allocator.allocate(static_cast<std::int64_t>(bytes_.size()), Contents::Uninitialised));
  const DeviceGuard guard(queue.ordinal);
  if (bytes_.size() <= sizeof(SmallPage)) {
    upload_pages<SmallPage>(bytes_, memory.data(), queue);
  } else {
    upload_pages<LargePage>(bytes_, memory.data(), queue);
  }
  return memory;
}

}  // namespace backslice::cuda
