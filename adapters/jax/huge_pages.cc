#include "huge_pages.h"

#include <sys/mman.h>

namespace backslice::jax {
namespace {

constexpr std::uintptr_t kHugePage = 2 << 20;

}  // namespace

void expect_writes(const View& result) {
  const auto begin = reinterpret_cast<std::uintptr_t>(result.data);
  const auto bytes = static_cast<std::uintptr_t>(result.elements() * result.layout.item_size);
  const std::uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t end = (begin + bytes) / kHugePage * kHugePage;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);  // where refused, small ones do
}

}  // namespace backslice::jax
