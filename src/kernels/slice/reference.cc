#include "kernels/slice/reference.h"

#include <cassert>
#include <cstring>
#include <string>

#include "core/visit_dtype.h"

namespace backslice::reference {
namespace {

using Loops = std::span<const Loop>;

struct ByteItems {
  std::size_t size;
  void copy(std::byte* dst, const std::byte* src) const { std::memcpy(dst, src, size); }
  void zero(std::byte* dst) const { std::memset(dst, 0, size); }
};

struct StringItems {
  static std::string& at(std::byte* p) { return *reinterpret_cast<std::string*>(p); }
  void copy(std::byte* dst, const std::byte* src) const { at(dst) = *reinterpret_cast<const std::string*>(src); }
  void zero(std::byte* dst) const { at(dst).clear(); }
};

template <class Items>
void zero(Loops loops, const Items& items, std::byte* dst) {
  if (loops.empty()) return items.zero(dst);
  for (std::int64_t i = 0; i < loops[0].extent; ++i) zero(loops.subspan(1), items, dst + i * loops[0].dst_stride);
}

template <class Items>
void overwrite(Loops loops, const Items& items, std::byte* dst, const std::byte* src) {
  if (loops.empty()) return items.copy(dst, src);
  const Loop& loop = loops[0];
  std::int64_t taken = 0;
  for (std::int64_t i = 0; i < loop.extent; ++i, dst += loop.dst_stride) {
    if (taken < loop.count && i == loop.start + taken * loop.step) {
      overwrite(loops.subspan(1), items, dst, src + taken * loop.src_stride);
      ++taken;
    } else {
      zero(loops.subspan(1), items, dst);
    }
  }
}

template <class T>
void accumulate(Loops loops, std::byte* dst, const std::byte* src) {
  if (loops.empty()) {
    T sum, term;
    std::memcpy(&sum, dst, sizeof(T));
    std::memcpy(&term, src, sizeof(T));
    sum = sum + term;
    std::memcpy(dst, &sum, sizeof(T));
    return;
  }
  const Loop& loop = loops[0];
  assert(loop.takes_all());
  for (std::int64_t i = 0; i < loop.extent; ++i) {
    accumulate<T>(loops.subspan(1), dst + i * loop.dst_stride, src + i * loop.src_stride);
  }
}

}  // namespace

void overwrite(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src) {
  if (plan.is_empty()) return;
  dst += plan.dst_offset();
  src += plan.src_offset();
  if (dtype == DType::String) return overwrite(plan.loops(), StringItems{}, dst, src);
  overwrite(plan.loops(), ByteItems{static_cast<std::size_t>(plan.item_size())}, dst, src);
}

void accumulate(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src) {
  if (plan.is_empty()) return;
  dst += plan.dst_offset();
  src += plan.src_offset();
  visit_addable(dtype, [&]<class T>() { accumulate<T>(plan.loops(), dst, src); });
}

}  // namespace backslice::reference
