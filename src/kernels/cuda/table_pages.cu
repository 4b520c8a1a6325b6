#include "kernels/cuda/launch.h"
#include "kernels/cuda/portable.h"

namespace backslice::cuda {
namespace {

// The size of a kernel's arguments: small for most tables, the most that CUDA allows for long ones.
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
cudaError_t upload_in(const std::byte* bytes, std::size_t size, std::byte* to, cudaStream_t stream) {
  AnyPage page;
  for (std::size_t at = 0; at < size; at += sizeof(page)) {
    const std::size_t now = size - at < sizeof(page) ? size - at : sizeof(page);
    std::memcpy(&page, bytes + at, now);
    const cudaError_t failed = launch_blocks(copy_page<AnyPage>, 1, stream, page, reinterpret_cast<Vector*>(to + at),
                                             static_cast<int>(now / sizeof(Vector)));
    if (failed != cudaSuccess) return failed;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t upload_pages(const std::byte* bytes, std::size_t size, std::byte* to, cudaStream_t stream) {
  if (size <= sizeof(SmallPage)) return upload_in<SmallPage>(bytes, size, to, stream);
  return upload_in<LargePage>(bytes, size, to, stream);
}

}  // namespace backslice::cuda
