// Rows added by vectors, on every target, against the rule on sums.
#include "core/items.h"
#include "kernels/cpu/targets.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

constexpr bool is_nan(std::uint16_t bits, std::uint16_t infinity) { return (bits & 0x7fff) > infinity; }

// Every pattern of 16 bits with itself, its neighbours, and patterns far away: normal, subnormal, infinite, NaN.
void expect_same_sums(DType dtype, std::uint16_t infinity) {
  constexpr int kAll = 1 << 16;
  for (int shift : {0, 1, 3, 1024, 0x3c00, 0x7c01, 0x8000, 0x83ff, 12345}) {
    std::vector<std::uint16_t> a(kAll), b(kAll);
    for (int i = 0; i < kAll; ++i) {
      a[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(i);
      b[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(i * 7 + shift);
    }
    const auto sum = [&](AddRow add, std::int64_t count) {
      auto row = a;
      add(reinterpret_cast<std::byte*>(row.data()), reinterpret_cast<const std::byte*>(b.data()), count);
      return row;
    };
    const auto expected = sum(operations_of(dtype).add, kAll);
    for (const Target& target : available_targets()) {
      const auto got = sum(target.rows->add[static_cast<int>(dtype)], kAll);
      for (std::size_t i = 0; i < got.size(); ++i) {
        if (is_nan(a[i], infinity) || is_nan(b[i], infinity)) {
          ASSERT_TRUE(is_nan(got[i], infinity)) << target.name << " " << a[i] << " + " << b[i];
        } else {
          ASSERT_EQ(got[i], expected[i]) << target.name << " " << a[i] << " + " << b[i];
        }
      }
    }
  }
}

TEST(AddRows, Float16RoundsAsTheRuleSays) { expect_same_sums(DType::Float16, 0x7c00); }
TEST(AddRows, BFloat16RoundsAsTheRuleSays) { expect_same_sums(DType::BFloat16, 0x7f80); }

}  // namespace
}  // namespace backslice
