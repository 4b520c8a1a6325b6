#include "ops/small_move.h"

#include <array>
#include <complex>
#include <cstring>

#include "core/tuning.h"
#include "core/visit_dtype.h"
#include "kernels/nest/nest.h"
#include "ops/call.h"

namespace backslice {
namespace {

struct Sixteen {
  std::array<std::uint64_t, 2> words;
};

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class T>
void store(std::byte* to, const T& value) {
  std::memcpy(to, &value, sizeof(T));
}

// Copies by two loads and stores that may overlap.
template <class T>
void copy_ends(std::byte* dst, const std::byte* src, std::int64_t bytes) {
  const std::int64_t last = bytes - static_cast<std::int64_t>(sizeof(T));
  const T first_value = load<T>(src), last_value = load<T>(src + last);
  store(dst, first_value);
  store(dst + last, last_value);
}

// Copies short runs, without the cost of a call.
void copy_run(std::byte* dst, const std::byte* src, std::int64_t bytes) {
  if (bytes > 128) {
    std::memcpy(dst, src, static_cast<std::size_t>(bytes));
  } else if (bytes >= 16) {
    for (std::int64_t i = 0; i + 16 < bytes; i += 16) store(dst + i, load<Sixteen>(src + i));
    store(dst + bytes - 16, load<Sixteen>(src + bytes - 16));
  } else if (bytes >= 8) {
    copy_ends<std::uint64_t>(dst, src, bytes);
  } else if (bytes >= 4) {
    copy_ends<std::uint32_t>(dst, src, bytes);
  } else {
    for (std::int64_t i = 0; i < bytes; ++i) dst[i] = src[i];
  }
}

// Adds a complex number as two numbers: compilers make slow code of std::complex in memory.
template <class T>
struct Parts {
  using Number = T;
  static constexpr std::int64_t kCount = 1;
};
template <class Real>
struct Parts<std::complex<Real>> {
  using Number = Real;
  static constexpr std::int64_t kCount = 2;
};

template <class T>
void add_run(std::byte* dst, const std::byte* src, std::int64_t count) {
  using Number = typename Parts<T>::Number;
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(Number));
  for (std::int64_t i = 0; i < count * Parts<T>::kCount; ++i, dst += kSize, src += kSize) {
    store(dst, static_cast<Number>(load<Number>(dst) + load<Number>(src)));
  }
}

}  // namespace

// Calls row(dst, src, loop) for each pass of the innermost loop.
template <class Row>
void SmallMove::walk(std::byte* dst, const std::byte* src, const Row& row) const {
  dst += dst_offset_;
  src += src_offset_;
  if (size_ == 0) return row(dst, src, Loop{1, 0, 0});
  const Loop inner = loops_[size_ - 1];
  std::array<std::int64_t, kMostAxes> at{};
  for (;;) {
    row(dst, src, inner);
    int i = size_ - 2;
    for (; i >= 0; --i) {
      const Loop& loop = loops_[i];
      dst += loop.dst;
      src += loop.src;
      if (++at[static_cast<std::size_t>(i)] < loop.count) break;
      at[static_cast<std::size_t>(i)] = 0;
      dst -= loop.count * loop.dst;
      src -= loop.count * loop.src;
    }
    if (i < 0) return;
  }
}

template <class Item>
void SmallMove::copy_items(std::byte* dst, const std::byte* src) const {
  walk(dst, src, [](std::byte* d, const std::byte* s, const Loop& loop) {
    for (std::int64_t i = 0; i < loop.count; ++i, d += loop.dst, s += loop.src) store(d, load<Item>(s));
  });
}

// Returns null for so few items that a loop here is faster.
const RowKernels* SmallMove::rows_for(std::int64_t items) const {
  return items > kTuning.few_items ? ready_rows() : nullptr;
}

Nest SmallMove::nest() const {
  InlineVector<NestAxis> axes;
  for (int i = 0; i < size_; ++i) axes.push_back({loops_[i].count, loops_[i].dst, loops_[i].src});
  return Nest(axes, run_ * item_size_);
}

void SmallMove::copy(std::byte* dst, const std::byte* src) const {
  if (const RowKernels* rows = rows_for(runs())) return nest().move(dst + dst_offset_, src + src_offset_, *rows);
  const std::int64_t bytes = run_ * item_size_;
  switch (bytes) {
    case 1: return copy_items<std::uint8_t>(dst, src);
    case 2: return copy_items<std::uint16_t>(dst, src);
    case 4: return copy_items<std::uint32_t>(dst, src);
    case 8: return copy_items<std::uint64_t>(dst, src);
    case 16: return copy_items<Sixteen>(dst, src);
    default: break;
  }
  walk(dst, src, [bytes](std::byte* d, const std::byte* s, const Loop& loop) {
    for (std::int64_t i = 0; i < loop.count; ++i, d += loop.dst, s += loop.src) copy_run(d, s, bytes);
  });
}

void SmallMove::zero_run(std::byte* dst, std::int64_t bytes) {
  const RowKernels* const rows = ready_rows();
  if (rows == nullptr) {
    std::memset(dst, 0, static_cast<std::size_t>(bytes));
  } else {
    rows->write_zeros(dst, bytes, bytes);
  }
}

template <class Item>
void SmallMove::zero_items(std::byte* dst) const {
  walk(dst, dst, [](std::byte* d, const std::byte*, const Loop& loop) {
    for (std::int64_t i = 0; i < loop.count; ++i, d += loop.dst) store(d, Item{});
  });
}

void SmallMove::zero(std::byte* dst) const {
  if (const RowKernels* rows = rows_for(runs())) return nest().zero(dst + dst_offset_, *rows);
  const std::int64_t bytes = run_ * item_size_;
  switch (bytes) {
    case 1: return zero_items<std::uint8_t>(dst);
    case 2: return zero_items<std::uint16_t>(dst);
    case 4: return zero_items<std::uint32_t>(dst);
    case 8: return zero_items<std::uint64_t>(dst);
    case 16: return zero_items<Sixteen>(dst);
    default: break;
  }
  if (size_ == 0) return zero_run(dst + dst_offset_, bytes);
  walk(dst, dst, [bytes](std::byte* d, const std::byte*, const Loop& loop) {
    for (std::int64_t i = 0; i < loop.count; ++i, d += loop.dst) std::memset(d, 0, static_cast<std::size_t>(bytes));
  });
}

template <class T>
void SmallMove::add_items(std::byte* dst, const std::byte* src) const {
  walk(dst, src, [run = run_](std::byte* d, const std::byte* s, const Loop& loop) {
    for (std::int64_t i = 0; i < loop.count; ++i, d += loop.dst, s += loop.src) add_run<T>(d, s, run);
  });
}

bool SmallMove::add(DType dtype, std::byte* dst, const std::byte* src) const {
  if (!can_add(dtype)) return false;
  if (const RowKernels* rows = rows_for(elements())) {
    nest().add(dst + dst_offset_, src + src_offset_, dtype, item_size_, *rows);
  } else {
    visit_addable(dtype, [&]<class T>() { add_items<T>(dst, src); });
  }
  return true;
}

}  // namespace backslice
