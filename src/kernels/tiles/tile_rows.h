// Rows of a tile, made ready to be added to, and the memory of tiles.
#pragma once

#include <algorithm>
#include <complex>
#include <cstring>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/small_float.h"
#include "core/visit_dtype.h"
#include "kernels/cpu/kernel_context.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/writer.h"

namespace backslice {

// The number that changes nothing when something is added to it, minus zero included: minus zero itself, or zero where
// there is none.
template <class T>
T identity() {
  T value{};
  if constexpr (std::is_floating_point_v<T>) {
    value = T{-0.0};
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    value = T(-0.0, -0.0);
  } else if constexpr (requires { T::kNegativeZero; }) {
    value.bits = static_cast<decltype(value.bits)>(T::kNegativeZero);
  }
  return value;
}

// Row operations on a dense tile; steps and strides are in bytes.
template <class T>
struct RowIdentity {
  void operator()(std::byte* dst, const std::byte*, std::int64_t n, std::int64_t step, std::int64_t) const {
    constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
    const T value = identity<T>();
    const auto each = [&](std::int64_t apart) {
      for (std::int64_t i = 0; i < n; ++i) std::memcpy(dst + i * apart, &value, sizeof(T));
    };
    step == kSize ? each(kSize) : each(step);  // the first becomes vector stores
  }
};

// float8_e8m0fnu has no such number: what is covered already is remembered for each element.
struct RowCopyOrAdd {
  std::byte* tile;
  std::vector<char>& covered;
  void operator()(std::byte* dst, const std::byte* src, std::int64_t n, std::int64_t step, std::int64_t stride) const {
    for (std::int64_t i = 0; i < n; ++i) {
      std::byte* to = dst + i * step;
      char& seen = covered[static_cast<std::size_t>(to - tile)];
      Float8E8M0FNU a, b;
      std::memcpy(&a, to, 1);
      std::memcpy(&b, src + i * stride, 1);
      if (seen) b = a + b;
      std::memcpy(to, &b, 1);
      seen = 1;
    }
  }
};

// -- Memory in which tiles are composed: one block for an operation, with a tile for each of its threads.

// A task borrows a tile and gives it back when it ends. The tile given back last is lent first: mostly to the same
// thread, in whose cache it still is.
class TileMemory {
 public:
  // At most `tasks` tiles of that many bytes. None where bytes are 0: then there is nothing to lend.
  TileMemory(std::int64_t tasks, std::int64_t bytes, const KernelContext& context)
      : bytes_(bytes), allocator_(context.allocator) {
    if (bytes == 0) return;
    const std::int64_t tiles = std::min<std::int64_t>(tasks, context.tasks.concurrency());
    const std::int64_t lines = (bytes - 1) / kLine + 1;  // no cache line belongs to two tiles
    const auto all = checked_multiply(tiles, lines);
    if (!all) throw std::bad_alloc();
    block_ = allocate_scratch<Line>(*all, allocator_);
    for (std::int64_t i = tiles; i-- > 0;) free_.push_back(block_->data() + i * lines * kLine);
  }

  class Borrowed {
   public:
    explicit Borrowed(TileMemory& from) : from_(from), tile_(from.take()) {
      if (tile_ != nullptr || from.bytes_ == 0) return;
      own_ = allocate_scratch<std::byte>(from.bytes_, from.allocator_);  // the executor runs more than it said
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    ~Borrowed() {
      if (tile_ != nullptr) from_.give_back(tile_);
    }
    std::byte* data() const { return own_ ? own_->data() : tile_; }

   private:
    TileMemory& from_;
    std::byte* tile_;
    std::optional<Buffer> own_;
  };

 private:
  struct Line {
    std::byte bytes[kLine];
  };

  std::byte* take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return nullptr;
    std::byte* const tile = free_.back();
    free_.pop_back();
    return tile;
  }

  void give_back(std::byte* tile) noexcept {  // into room that it left
    const std::lock_guard lock(mutex_);
    free_.push_back(tile);
  }

  std::int64_t bytes_;
  Allocator& allocator_;
  std::optional<Buffer> block_;
  std::mutex mutex_;
  std::vector<std::byte*> free_;
};

}  // namespace backslice
