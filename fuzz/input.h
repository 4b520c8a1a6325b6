// Input: the bytes of a fuzzer's input, read as arguments of the library.
//
// Small values are the rule, so that models can enumerate them. Extreme integers are frequent enough to occur together.
// After the last byte everything reads as zero, false or empty, so short inputs are complete cases.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "backslice/dtype.h"
#include "backslice/executor.h"
#include "backslice/index.h"
#include "fuzz/place.h"

namespace backslice::fuzz {

using Numbers = std::vector<std::int64_t>;

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}

  bool has_more() { return bytes_.remaining_bytes() > 0; }
  bool flag() { return bytes_.ConsumeBool(); }
  bool one_in(int n) { return within(0, n - 1) == n - 1; }  // never after the last byte

  std::int64_t within(std::int64_t lo, std::int64_t hi) { return bytes_.ConsumeIntegralInRange(lo, hi); }

  template <class List>
  auto pick(const List& list) {
    return list[static_cast<std::size_t>(within(0, static_cast<std::int64_t>(std::size(list)) - 1))];
  }

  // Returns any integer: near zero, near a power of two or a limit, or random.
  std::int64_t integer() {
    switch (within(0, 5)) {
      case 0:
      case 1:
      case 2: return within(-8, 8);
      case 3: return near(std::int64_t{1} << within(3, 62));
      case 4: return near(flag() ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min());
      default: return bytes_.ConsumeIntegral<std::int64_t>();
    }
  }

  // Returns an index, a bound or a step that is mostly valid on an axis of this extent.
  std::int64_t position(std::int64_t extent) {
    if (extent < 0 || extent > 64 || one_in(8)) return integer();
    return within(-extent - 2, extent + 2);
  }

  Numbers integers(std::int64_t most) {
    Numbers list(static_cast<std::size_t>(within(0, most)));
    for (std::int64_t& item : list) item = integer();
    return list;
  }

  // Returns extents from 0 to `largest`.
  Numbers small_shape(int max_rank, std::int64_t largest) {
    Numbers shape(static_cast<std::size_t>(within(0, max_rank)));
    for (std::int64_t& extent : shape) extent = one_in(12) ? 0 : within(1, largest);
    return shape;
  }

  // Returns extents of which some are 2^40 or more, some zero; the product may be too large for a Shape. There are no
  // values in between: a result is either small, or larger than any machine's memory.
  Numbers huge_shape(int max_rank) {
    constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
    Numbers shape(static_cast<std::size_t>(within(1, max_rank)));
    for (std::int64_t& extent : shape) {
      const std::int64_t choices[] = {within(0, 4), 1, 0, std::int64_t{1} << 40, std::int64_t{1} << 62, kMax, kMax - 1};
      extent = pick(choices);
    }
    return shape;
  }

  // Strings are only in the CPU's memory.
  DType dtype() {
    const DType dtype = pick(all_dtypes());
    return dtype == DType::String && !is_on_cpu() ? DType::UInt8 : dtype;
  }

  SliceRange range(std::int64_t extent) {
    SliceRange range;
    if (flag()) range.start = position(extent);
    if (flag()) range.stop = position(extent);
    if (flag()) range.step = one_in(4) ? integer() : within(-3, 3);
    return range;
  }

  // Returns an index for this shape, mostly valid.
  Index index(const Numbers& shape) {
    Index index;
    for (std::int64_t extent : shape) {
      if (one_in(10)) index.push_back(NewAxis{});
      if (one_in(12)) return index.push_back(EllipsisItem{}), index;
      if (one_in(5)) {
        index.push_back(extent > 0 && extent <= 64 ? within(-extent, extent - 1) : position(extent));
      } else {
        index.push_back(range(extent));
      }
    }
    if (one_in(10)) index.push_back(NewAxis{});
    return index;
  }

  // Fills memory with bytes that follow from two bytes of the input: random ones, or bytes of zeros, infinities and
  // NaNs.
  void fill(std::byte* data, std::size_t size) {
    constexpr std::uint8_t kSpecial[] = {0x00, 0x80, 0x7f, 0xff, 0xf8, 0x7c, 0xc0, 0x01};
    const auto seed = bytes_.ConsumeIntegral<std::uint16_t>();
    std::uint64_t state = 0x9e3779b97f4a7c15u ^ seed;
    for (std::size_t i = 0; i < size; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      data[i] = static_cast<std::byte>(seed % 4 == 3 ? kSpecial[state >> 61] : state >> 56);
    }
  }

  std::string text(std::size_t most) { return bytes_.ConsumeRandomLengthString(most); }
  std::string rest() { return bytes_.ConsumeRemainingBytesAsString(); }

  // Returns an executor of one to three threads, which lives for the whole run.
  Executor& executor() {
    static const auto two = make_thread_executor(2), three = make_thread_executor(3);
    Executor* const all[] = {&serial_executor(), two.get(), three.get()};
    return *pick(all);
  }

 private:
  std::int64_t near(std::int64_t value) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + static_cast<std::uint64_t>(within(-2, 2)));
  }

  FuzzedDataProvider bytes_;
};

}  // namespace backslice::fuzz
