#include "core/small_float.h"

#include <cmath>

#include "testing.h"

namespace backslice {
namespace {

constexpr FloatFormat kHalf{5, 10, 15, Specials::Ieee};
constexpr FloatFormat kBrain{8, 7, 127, Specials::Ieee};
constexpr FloatFormat kFormats[] = {kHalf,
                                    kBrain,
                                    {3, 4, 3, Specials::Ieee},
                                    {4, 3, 7, Specials::Ieee},
                                    {4, 3, 11, Specials::NanAtMinus},
                                    {4, 3, 7, Specials::NanAtTop},
                                    {4, 3, 8, Specials::NanAtMinus},
                                    {5, 2, 15, Specials::Ieee},
                                    {5, 2, 16, Specials::NanAtMinus},
                                    {2, 3, 1, Specials::None},
                                    {3, 2, 3, Specials::None},
                                    {2, 1, 1, Specials::None}};

TEST(SmallFloat, EveryValueSurvivesDecodingAndEncoding) {
  for (const FloatFormat& format : kFormats) {
    for (std::uint32_t bits = 0; bits < 2 * format.sign_bit(); ++bits) {
      const float value = decode(bits, format);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(decode(encode(value, format), format))) << bits;
      } else {
        EXPECT_EQ(encode(value, format), bits) << format.mantissa_bits;
      }
    }
  }
}

TEST(SmallFloat, RoundsEveryMiddleToEven) {
  for (const FloatFormat& format : kFormats) {
    for (std::uint32_t bits = 0; bits < format.largest_finite(); ++bits) {
      const float low = decode(bits, format), high = decode(bits + 1, format);
      const float middle = low + (high - low) / 2;
      if (middle == low || middle == high) continue;  // below float32's own spacing
      EXPECT_EQ(encode(middle, format), bits + (bits & 1)) << format.mantissa_bits;
      EXPECT_EQ(encode(std::nextafter(middle, 0.0f), format), bits);
      EXPECT_EQ(encode(std::nextafter(middle, INFINITY), format), bits + 1);
    }
  }
}

TEST(SmallFloat, KnownValues) {
  EXPECT_EQ(decode(0x3c00, kHalf), 1.0f);
  EXPECT_EQ(decode(0x0001, kHalf), std::ldexp(1.0f, -24));
  EXPECT_EQ(encode(65504.0f, kHalf), 0x7bffu);
  EXPECT_EQ(encode(65520.0f, kHalf), 0x7c00u);      // overflows to infinity, does not saturate
  EXPECT_EQ(encode(1.00390625f, kBrain), 0x3f80u);  // 1 + 2^-8: a tie, down to even; truncation would agree
  EXPECT_EQ(encode(1.01171875f, kBrain), 0x3f82u);  // 1 + 3*2^-8: a tie, up to even; truncation would not
}

TEST(SmallFloat, OverflowAndNanFollowTheFormat) {
  const FloatFormat fn{4, 3, 7, Specials::NanAtTop}, fnuz{4, 3, 8, Specials::NanAtMinus}, none{2, 1, 1, Specials::None};
  EXPECT_EQ(encode(1e9f, fn), 0x7fu);
  EXPECT_EQ(encode(-INFINITY, fn), 0xffu);
  EXPECT_EQ(encode(-1e9f, fnuz), 0x80u);
  EXPECT_EQ(encode(-0.0f, fnuz), 0u);
  EXPECT_EQ(encode(-1e9f, none), 0xfu);
}

TEST(SmallFloat, SumsRoundOnceAnAddition) {
  Float16 sum{static_cast<std::uint16_t>(encode(2048.0f, kHalf))};
  const Float16 one{0x3c00};
  sum = sum + one + one + one;
  EXPECT_EQ(decode(sum.bits, kHalf), 2048.0f);
}

TEST(Float8E8M0FNU, AddsPowersOfTwo) {
  const auto add = [](int a, int b) {
    return (Float8E8M0FNU{static_cast<std::uint8_t>(a)} + Float8E8M0FNU{static_cast<std::uint8_t>(b)}).bits;
  };
  EXPECT_EQ(add(100, 100), 101);
  EXPECT_EQ(add(100, 99), 101);  // 1.5 goes up
  EXPECT_EQ(add(98, 100), 100);  // 1.25 goes down
  EXPECT_EQ(add(254, 254), 255);
  EXPECT_EQ(add(255, 3), 255);
}

}  // namespace
}  // namespace backslice
