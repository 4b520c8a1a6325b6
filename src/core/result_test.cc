#include "backslice/result.h"

#include <memory>

#include "core/errors.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

Result<int> half(int n) {
  if (n % 2 != 0) return invalid_argument(n, " is odd");
  return n / 2;
}

TEST(Result, HoldsAValueOrAnError) {
  Result<int> good = 3;
  EXPECT_EQ(*good, 3);
  EXPECT_TRUE(good.status().ok());
  Result<int> bad = invalid_argument("no");
  EXPECT_EQ(bad.status().message(), "no");
}

TEST(Result, ValueThrowsForThoseWhoWantExceptions) {
  Result<int> bad = invalid_argument("no");
  EXPECT_THROW(bad.value(), std::runtime_error);
}

TEST(Result, TestsAsABool) {
  EXPECT_TRUE(half(4));
  EXPECT_FALSE(half(3));
  static_assert(!std::is_convertible_v<Result<int>, bool>);
}

// `if (array.is_closed())` would be true of an array that is not.
TEST(Result, OfABoolIsNoCondition) {
  static_assert(!std::is_constructible_v<bool, Result<bool>>);
  static_assert(!std::is_constructible_v<bool, const Result<bool>&>);
  static_assert(std::is_constructible_v<bool, Result<int>>);
  const Result<bool> no = false;
  EXPECT_TRUE(no.ok());
  EXPECT_FALSE(*no);
  EXPECT_TRUE(half(4).transform([](int n) { return n == 2; }).value());
}

TEST(Result, AConstOneGivesItsValue) {
  const Result<std::string> good = std::string("text");
  EXPECT_EQ(good.value(), "text");
  EXPECT_EQ(good->size(), 4u);
  static_assert(std::is_same_v<decltype(good.value()), const std::string&>);
  const Result<std::string> bad = invalid_argument("no");
  EXPECT_THROW(bad.value(), std::runtime_error);
}

TEST(Result, ATemporaryGivesItsValueAway) {
  using Owner = Result<std::unique_ptr<int>>;
  static_assert(std::is_same_v<decltype(std::declval<Owner>().value()), std::unique_ptr<int>>);
  static_assert(std::is_same_v<decltype(*std::declval<Owner>()), std::unique_ptr<int>>);
  EXPECT_EQ(*Owner(std::make_unique<int>(3)).value(), 3);
}

TEST(Result, ALoopOverATemporaryOutlivesIt) {
  const auto list = []() -> Result<std::vector<int>> { return std::vector<int>(1000, 1); };
  int sum = 0;
  for (int i : list().value()) sum += i;
  for (int i : *list()) sum += i;
  EXPECT_EQ(sum, 2000);
}

TEST(Result, AndThenStopsAtTheFirstError) {
  EXPECT_EQ(*half(12).and_then(half), 3);
  EXPECT_TRUE(is_error(half(6).and_then(half).and_then(half), kInvalid, "3 is odd"));
}

TEST(Result, AndThenTakesFunctionsThatReturnAStatus) {
  const auto small = [](int n) { return n < 5 ? Status() : out_of_range(n, " is not small"); };
  const Result<int> two = half(4);
  EXPECT_TRUE(two.and_then(small).ok());
  EXPECT_TRUE(is_error(half(20).and_then(small), StatusCode::OutOfRange, "10"));
  EXPECT_TRUE(is_error(half(3).and_then(small), kInvalid, "odd"));
}

TEST(Result, AndThenMovesTheValueOfATemporary) {
  using Owner = std::unique_ptr<int>;
  const auto read = [](Owner owner) -> Result<int> { return *owner; };
  EXPECT_EQ(*Result<Owner>(std::make_unique<int>(7)).and_then(read), 7);
}

TEST(Result, AndThenMayChangeTheValueInPlace) {
  Result<int> n = half(8);
  EXPECT_EQ(*n.and_then([](int& value) { return half(value += 2); }), 3);
  EXPECT_EQ(*n, 6);
}

TEST(Result, TransformWrapsWhatCannotFail) {
  const auto text = [](int n) { return std::to_string(n); };
  const Result<int> two = half(4);
  EXPECT_EQ(*two.transform(text), "2");
  EXPECT_EQ(*half(6).transform(text), "3");
  EXPECT_TRUE(is_error(half(1).transform(text), kInvalid, "1 is odd"));
}

TEST(Result, OrElseRecoversFromErrors) {
  const auto zero = [](const Status&) -> Result<int> { return 0; };
  EXPECT_EQ(*half(4).or_else(zero), 2);
  EXPECT_EQ(*half(3).or_else(zero), 0);
  const Result<int> bad = half(5);
  EXPECT_TRUE(is_error(bad.or_else([](const Status& s) -> Result<int> { return out_of_range("again: ", s.message()); }),
                       StatusCode::OutOfRange, "again: 5 is odd"));
}

}  // namespace
}  // namespace backslice
