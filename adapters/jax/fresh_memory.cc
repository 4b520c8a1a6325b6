#include "fresh_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace backslice::jax {
namespace {

constexpr std::uintptr_t kHugePage = 2 << 20;
constexpr std::int64_t kLongRow = 512;

struct Bytes {
  std::uintptr_t begin, end;

  void advise(int advice) const { (void)try_advise(advice); }  // if the system refuses, nothing changes
  bool try_advise(int advice) const { return madvise(reinterpret_cast<void*>(begin), end - begin, advice) == 0; }
  void zero() const { std::memset(reinterpret_cast<void*>(begin), 0, end - begin); }
};

Bytes bytes_of(const View& result) {
  const auto begin = reinterpret_cast<std::uintptr_t>(result.data);
  return {begin, begin + static_cast<std::uintptr_t>(result.elements() * result.layout.item_size)};
}

// Returns the whole pages of a range; none if its end is not after its beginning.
Bytes pages_of(const Bytes& bytes, std::uintptr_t page) {
  return {(bytes.begin + page - 1) / page * page, bytes.end / page * page};
}

// Whether the system has provided some of the pages; one per huge page is tested.
bool are_provided(const Bytes& pages) {
  for (std::uintptr_t at = pages.begin; at < pages.end; at += kHugePage) {
    unsigned char is_provided = 0;
    if (mincore(reinterpret_cast<void*>(at), 1, &is_provided) != 0 || (is_provided & 1) != 0) return true;
  }
  return false;
}

// Discards the contents of the pages. The system refuses MADV_FREE if they are not private and anonymous: only such
// pages are zero after MADV_DONTNEED.
bool discard(const Bytes& pages) { return pages.try_advise(MADV_FREE) && pages.try_advise(MADV_DONTNEED); }

// Returns a lower bound of the contiguous bytes that a slice selects.
std::int64_t bytes_at_once(const SliceGradient& slice) {
  const Selection& taken = slice.selection;
  std::int64_t bytes = slice.dy.layout.item_size;
  for (int axis = taken.shape().rank() - 1; axis >= 0; --axis) {
    const auto& of = taken.axis(axis);
    if (of.step != 1 && of.step != -1) break;
    bytes *= of.count;
    if (of.count != taken.shape()[axis]) break;
  }
  return bytes;
}

bool are_long_rows(std::span<const SliceGradient> slices) {
  return std::all_of(slices.begin(), slices.end(), [](const auto& slice) { return bytes_at_once(slice) >= kLongRow; });
}

}  // namespace

void expect_writes(const View& result) {
  const Bytes pages = pages_of(bytes_of(result), kHugePage);
  if (pages.begin < pages.end) pages.advise(MADV_HUGEPAGE);
}

Write write_of_gradients(std::span<const SliceGradient> slices, const View& result) {
  expect_writes(result);
  if (!are_long_rows(slices)) return Write::Overwrite;
  const Bytes bytes = bytes_of(result);
  const Bytes pages = pages_of(bytes, static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)));
  if (bytes.end - bytes.begin < 2 * kHugePage || are_provided(pages) || !discard(pages)) return Write::Overwrite;
  Bytes{bytes.begin, pages.begin}.zero();
  Bytes{pages.end, bytes.end}.zero();
  return Write::IntoZeros;
}

}  // namespace backslice::jax
