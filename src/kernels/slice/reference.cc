#include <cassert>

#include "core/items.h"
#include "kernels/slice/kernel.h"

namespace backslice::reference {
namespace {

using Loops = std::span<const Loop>;

void zero(Loops loops, const ItemOperations& items, std::int64_t size, std::byte* dst) {
  if (loops.empty()) return items.zero(dst, 1, size);
  for (std::int64_t i = 0; i < loops[0].extent; ++i) {
    zero(loops.subspan(1), items, size, dst + i * loops[0].dst_stride);
  }
}

void overwrite(Loops loops, const ItemOperations& items, std::int64_t size, std::byte* dst, const std::byte* src) {
  if (loops.empty()) return items.copy(dst, src, 1, size);
  const Loop& loop = loops[0];
  std::int64_t taken = 0;
  for (std::int64_t i = 0; i < loop.extent; ++i, dst += loop.dst_stride) {
    if (taken < loop.count && i == loop.start + taken * loop.step) {
      overwrite(loops.subspan(1), items, size, dst, src + taken * loop.src_stride);
      ++taken;
    } else {
      zero(loops.subspan(1), items, size, dst);
    }
  }
}

void accumulate(Loops loops, const ItemOperations& items, std::byte* dst, const std::byte* src) {
  if (loops.empty()) return items.add(dst, src, 1);
  const Loop& loop = loops[0];
  assert(loop.takes_all());
  for (std::int64_t i = 0; i < loop.extent; ++i) {
    accumulate(loops.subspan(1), items, dst + i * loop.dst_stride, src + i * loop.src_stride);
  }
}

}  // namespace

void overwrite(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src) {
  if (plan.is_empty()) return;
  dst += plan.dst_offset();
  src += plan.src_offset();
  overwrite(plan.loops(), operations_of(dtype), plan.item_size(), dst, src);
}

void accumulate(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src) {
  if (plan.is_empty()) return;
  dst += plan.dst_offset();
  src += plan.src_offset();
  accumulate(plan.loops(), operations_of(dtype), dst, src);
}

}  // namespace backslice::reference
