#include "backslice/dtype_of.h"

#include <cstdint>
#include <sstream>

#include "testing.h"

namespace my {
struct bfloat16 {
  std::uint16_t bits;
};
struct pixel {
  std::uint8_t r, g, b;
};
struct wrong {
  double of_eight_bytes;
};
}  // namespace my

template <>
struct backslice::DTypeOf<my::bfloat16> : backslice::DTypeConstant<backslice::DType::BFloat16> {};
template <>
struct backslice::DTypeOf<my::pixel> : backslice::DTypeConstant<backslice::DType::Bytes> {};
template <>
struct backslice::DTypeOf<my::wrong> : backslice::DTypeConstant<backslice::DType::Float16> {};

namespace backslice {
namespace {

using namespace testing;

TEST(DTypeOf, StandardTypesHaveOne) {
  static_assert(dtype_of<bool> == DType::Bool);
  static_assert(dtype_of<std::int8_t> == DType::Int8 && dtype_of<std::uint8_t> == DType::UInt8);
  static_assert(dtype_of<std::int16_t> == DType::Int16 && dtype_of<std::uint16_t> == DType::UInt16);
  static_assert(dtype_of<std::int32_t> == DType::Int32 && dtype_of<std::uint32_t> == DType::UInt32);
  static_assert(dtype_of<std::int64_t> == DType::Int64 && dtype_of<std::uint64_t> == DType::UInt64);
  static_assert(dtype_of<float> == DType::Float32 && dtype_of<double> == DType::Float64);
  static_assert(dtype_of<std::complex<float>> == DType::Complex64 &&
                dtype_of<std::complex<double>> == DType::Complex128);
  static_assert(dtype_of<std::string> == DType::String);
  static_assert(dtype_of<const float> == DType::Float32);
}

TEST(DTypeOf, BothIntegersOf64BitsAreInt64) {
  static_assert(dtype_of<long> == DType::Int64 && dtype_of<long long> == DType::Int64);
  static_assert(dtype_of<unsigned long long> == DType::UInt64);
}

TEST(DTypeOf, TextAndPointersAreNoElements) {
  static_assert(!ElementType<char> && !ElementType<wchar_t> && !ElementType<char8_t> && !ElementType<float*>);
  static_assert(!ElementType<long double> && !ElementType<std::vector<float>> && !ElementType<std::byte>);
}

TEST(DTypeOf, ATypeOfTheCallersTakesPart) {
  std::vector<my::bfloat16> numbers(6);
  const View view = View::of(numbers, {2, 3}).value();
  EXPECT_EQ(view.dtype, DType::BFloat16);
  EXPECT_EQ(view.elements<my::bfloat16>().value().data(), numbers.data());
  EXPECT_TRUE(is_error(view.elements<std::uint16_t>(), kInvalid, "uint16", "bfloat16"));
}

TEST(DTypeOf, BytesHaveTheSizeOfTheirType) {
  std::vector<my::pixel> image(6);
  const View view = View::of(image, {2, 3}).value();
  EXPECT_EQ(view.layout.item_size, 3);
  EXPECT_EQ(view.elements<my::pixel>().value().size(), 6u);
  const View wider = View::contiguous(image.data(), DType::Bytes, {2}, 9).value();
  EXPECT_TRUE(is_error(wider.elements<my::pixel>(), kInvalid, "3 bytes", "9"));
}

TEST(DTypeOf, ATypeOfAnotherSizeThanItsDTypeIsRefused) {
  my::wrong one[1] = {};
  EXPECT_TRUE(is_error(View::of(one, {1}), kInvalid, "item_size 8", "float16"));
}

TEST(DType, PrintsAsItsName) {
  std::ostringstream out;
  out << DType::Float32 << ' ' << DType::BFloat16;
  EXPECT_EQ(out.str(), "float32 bfloat16");
}

}  // namespace
}  // namespace backslice
