#include "element_types.h"

#include <gmock/gmock.h>

#include <vector>

namespace backslice::onnxruntime {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

std::vector<std::byte> unpacked(const std::vector<std::byte>& packed, std::int64_t count, DType dtype, int per_byte) {
  std::vector<std::byte> elements(static_cast<std::size_t>(count));
  unpack(packed.data(), count, {dtype, per_byte}, elements.data());
  return elements;
}

TEST(ElementTypes, FirstElementIsInTheLowestBits) {
  EXPECT_EQ(unpacked(bytes({0x21, 0x0f}), 3, DType::UInt4, 2), bytes({1, 2, 15}));
  EXPECT_EQ(unpacked(bytes({0b11100100, 0b10}), 5, DType::UInt2, 4), bytes({0, 1, 2, 3, 2}));
}

TEST(ElementTypes, SignedElementsKeepTheirSign) {
  EXPECT_EQ(unpacked(bytes({0x8f}), 2, DType::Int4, 2), bytes({-1, -8}));
  EXPECT_EQ(unpacked(bytes({0b10110100}), 4, DType::Int2, 4), bytes({0, 1, -1, -2}));
}

TEST(ElementTypes, PackingIsTheWayBackAndClearsWhatIsLeftOver) {
  for (const auto& [dtype, per_byte] : {std::pair{DType::Int4, 2}, {DType::Float4E2M1FN, 2}, {DType::Int2, 4}}) {
    const std::vector<std::byte> packed = bytes({0xa7, 0x03});
    const std::int64_t count = per_byte + 1;
    const auto elements = unpacked(packed, count, dtype, per_byte);
    auto again = bytes({0xff, 0xff});
    pack(elements.data(), count, {dtype, per_byte}, again.data());
    EXPECT_EQ(again, packed) << dtype;
  }
}

TEST(ElementTypes, NumbersThatAreNoTypeAreNone) {
  for (const int number : {-1, 0, 27, 1000}) EXPECT_FALSE(element_type(number)) << number;
  EXPECT_EQ(element_type(1)->dtype, DType::Float32);
  EXPECT_EQ(element_type(26)->dtype, DType::Float8E8M0FNU);
}

}  // namespace
}  // namespace backslice::onnxruntime
