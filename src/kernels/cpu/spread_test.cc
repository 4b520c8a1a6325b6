// Items spread with zeros between, on every target: all of a row, and not a byte after it.
#include "kernels/cpu/targets.h"
#include "testing.h"

namespace backslice {
namespace {

template <class T>
void expect_spread(const Target& target, std::int64_t count, std::int64_t step, bool backward) {
  std::vector<T> items(static_cast<std::size_t>(count));
  std::iota(items.begin(), items.end(), T{1});
  const std::vector<T> before(static_cast<std::size_t>(count * step) + 70, T{99});
  std::vector<T> expected = before, spread = before;
  for (std::int64_t i = 0; i < count; ++i) {
    if (i > 0) std::fill_n(expected.begin() + (i - 1) * step + 1, step - 1, T{0});
    expected[static_cast<std::size_t>(i * step)] = items[static_cast<std::size_t>(backward ? count - 1 - i : i)];
  }
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  target.rows->spread[width_index(kSize)](reinterpret_cast<std::byte*>(spread.data()),
                                          reinterpret_cast<const std::byte*>(backward ? &items.back() : &items.front()),
                                          count, step, backward ? -kSize : kSize);
  EXPECT_EQ(spread, expected) << target.name << ", " << count << " items of " << kSize << " bytes, step " << step;
}

TEST(SpreadRows, WriteTheRowAndNothingAfterIt) {
  for (const Target& target : available_targets()) {
    for (std::int64_t step = 1; step <= 5; ++step) {
      for (std::int64_t count = 1; count < 150; ++count) {
        for (const bool backward : {false, true}) {
          expect_spread<std::uint8_t>(target, count, step, backward);
          expect_spread<std::uint16_t>(target, count, step, backward);
          expect_spread<std::uint32_t>(target, count, step, backward);
          expect_spread<std::uint64_t>(target, count, step, backward);
        }
      }
    }
  }
}

}  // namespace
}  // namespace backslice
