#include "given_memory.h"

#include <gmock/gmock.h>

#include <vector>

namespace backslice::jax {
namespace {

constexpr Device kDevice = Device::cuda(3);

struct Memory {
  alignas(64) std::byte bytes[256];
};

TEST(GivenMemory, GivesPiecesOneAfterTheOtherOnAlignedAddressesOfItsDevice) {
  Memory memory;
  GivenMemory given(memory.bytes, 256, kDevice);
  const auto first = given.allocate(65, Contents::Uninitialised), second = given.allocate(64, Contents::Uninitialised);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->data(), memory.bytes);
  EXPECT_EQ(second->data(), memory.bytes + 128);
  EXPECT_EQ(first->device(), kDevice);
  EXPECT_EQ(given.device(), kDevice);
}

TEST(GivenMemory, BeginsAnewWhenAllIsReleased) {
  Memory memory;
  GivenMemory given(memory.bytes, 256, kDevice);
  {
    const auto first = given.allocate(200, Contents::Uninitialised);
    ASSERT_TRUE(first);
    EXPECT_FALSE(given.allocate(100, Contents::Uninitialised));
  }
  const auto again = given.allocate(256, Contents::Uninitialised);
  ASSERT_TRUE(again) << again.status();
  EXPECT_EQ(again->data(), memory.bytes);
}

TEST(GivenMemory, RefusesMoreThanItHas) {
  Memory memory;
  GivenMemory given(memory.bytes + 1, 200, kDevice);  // of which 137 lie behind the first aligned address
  EXPECT_EQ(given.allocate(138, Contents::Uninitialised).status().code(), StatusCode::ResourceExhausted);
  EXPECT_EQ(given.allocate(INT64_MAX, Contents::Uninitialised).status().code(), StatusCode::ResourceExhausted);
  EXPECT_EQ(given.allocate(-1, Contents::Uninitialised).status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(given.allocate(1, Contents::Zero).status().code(), StatusCode::Unimplemented);
  EXPECT_TRUE(given.allocate(137, Contents::Uninitialised));
  GivenMemory nothing(nullptr, 0, kDevice);
  EXPECT_EQ(nothing.allocate(1, Contents::Uninitialised).status().code(), StatusCode::ResourceExhausted);
}

}  // namespace
}  // namespace backslice::jax
