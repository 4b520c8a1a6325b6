#include "select/progression.h"

#include <set>

#include "testing.h"

namespace backslice {
namespace {

std::set<std::int64_t> positions(const Progression& p) {
  std::set<std::int64_t> all;
  for (std::int64_t i = 0; i < p.count; ++i) all.insert(p.start + i * p.step);
  return all;
}

TEST(Progression, IntersectionIsExact) {
  std::mt19937 random(12);
  const auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  for (int i = 0; i < 20000; ++i) {
    const Progression a{pick(20), 1 + pick(9), 1 + pick(12)}, b{pick(20), 1 + pick(9), 1 + pick(12)};
    std::set<std::int64_t> expected;
    for (std::int64_t x : positions(a)) {
      if (positions(b).contains(x)) expected.insert(x);
    }
    const auto both = intersect(a, b);
    EXPECT_EQ(both ? positions(*both) : std::set<std::int64_t>(), expected);
  }
}

TEST(Progression, HugeStepsDoNotOverflow) {
  const std::int64_t huge = (std::int64_t{1} << 61) - 1;
  EXPECT_EQ(intersect({5, huge, 4}, {5, huge - 1, 4})->count, 1);
}

TEST(Progression, DescendingAxesAscend) {
  const Progression p = ascending({9, -3, 3});
  EXPECT_EQ(positions(p), (std::set<std::int64_t>{3, 6, 9}));
  EXPECT_EQ(p.step, 3);
}

}  // namespace
}  // namespace backslice
