// What kernels on CUDA devices are made of, on the CPU: division, loads from any address, sums.
#include "backslice/cuda.h"
#include "core/visit_dtype.h"
#include "kernels/cuda/addition.h"
#include "kernels/cuda/positions.h"
#include "testing.h"

namespace backslice::cuda {
namespace {

TEST(FastDivisor, DividesAsTheProcessorDoes) {
  std::mt19937 random(31);
  const auto expect_quotient = [](std::uint32_t n, std::uint32_t d) {
    ASSERT_EQ(FastDivisor(d).quotient(n), n / d) << n << " / " << d;
  };
  constexpr std::uint32_t kMost = 0x7fffffffu;
  for (std::uint32_t d = 1; d < 3000; ++d) {
    for (std::uint32_t n : {0u, d - 1, d, 2 * d - 1, kMost, kMost - kMost % d, kMost - kMost % d - 1}) {
      expect_quotient(n, d);
    }
  }
  for (int i = 0; i < 200000; ++i) {
    const auto d = 1 + static_cast<std::uint32_t>(random() & kMost) % kMost;
    const auto n = static_cast<std::uint32_t>(random() & kMost);
    expect_quotient(n, d);
    expect_quotient(n / d * d, d);
    expect_quotient(kMost, d);
  }
}

TEST(CudaWrap, MemoryThatNoStreamUsedIsGivenUpWithoutADriver) {
  const auto owner = std::make_shared<int>(7);
  std::byte memory{};
  {
    const Buffer buffer = cuda_wrap(owner, &memory, 3, nullptr), same = buffer;
    EXPECT_EQ(buffer.data(), &memory);
    EXPECT_EQ(buffer.device(), Device::cuda(3));
    EXPECT_EQ(owner.use_count(), 2);
    const bool has_cuda = cuda_versions().status().code() != StatusCode::Unimplemented;
    EXPECT_EQ(cuda_owner(same), has_cuda ? owner : nullptr);
  }
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(cuda_owner(Tensor::make(DType::UInt8, {1}).value().buffer()), nullptr);
}

TEST(CudaKeep, NeedsNoDriverForMemoryOfTheCpu) {
  std::byte byte{};
  const Buffer here = Buffer::wrap(nullptr, &byte);
  EXPECT_TRUE(cuda_keep(here, nullptr).ok());
  EXPECT_TRUE(cuda_await(here, nullptr).ok());
}

TEST(Loads, FromAnyAddressReadTheBytesThereAndNoOthers) {
  std::byte memory[64];
  for (int i = 0; i < 64; ++i) memory[i] = static_cast<std::byte>(i * 7 + 1);
  const Bounds bounds{memory, memory + 64};
  for (int at = 0; at <= 48; ++at) {
    const Vector vector = load_anywhere(memory + at, bounds);
    EXPECT_EQ(std::memcmp(&vector, memory + at, 16), 0) << at;
    const Vector narrow = load_anywhere(memory + at, {memory + at, memory + at + 16});
    EXPECT_EQ(std::memcmp(&narrow, memory + at, 16), 0) << at;
  }
  for (int at = 0; at < 56; ++at) {
    for (unsigned bytes = 1; bytes <= 8; ++bytes) {
      const std::uint64_t word = load_word_anywhere(memory + at, bytes, bounds);
      EXPECT_EQ(std::memcmp(&word, memory + at, bytes), 0) << at;
    }
  }
}

TEST(Reversed, HasTheItemsLastFirst) {
  std::uint8_t bytes[16];
  for (int i = 0; i < 16; ++i) bytes[i] = static_cast<std::uint8_t>(i);
  Vector vector;
  std::memcpy(&vector, bytes, 16);
  const auto first_of = [](const Vector& v) { return static_cast<int>(v.low & 0xff); };
  EXPECT_EQ(first_of(reversed<1>(vector)), 15);
  EXPECT_EQ(first_of(reversed<2>(vector)), 14);
  EXPECT_EQ(first_of(reversed<4>(vector)), 12);
  EXPECT_EQ(first_of(reversed<8>(vector)), 8);
  EXPECT_EQ(first_of(reversed<16>(vector)), 0);
}

// Of two NaNs the CPU may return either.
bool is_nan(const Addition& addition, std::uint32_t byte) {
  if (addition.kind != Addition::Kind::SmallFloat) return false;
  const float value = decode(byte, addition.format);
  return value != value;
}

// Every pair of bytes, and random wider numbers, in words that hold several of them.
class Sums : public ::testing::TestWithParam<DType> {};

TEST_P(Sums, AreThoseOfTheCpuBitForBit) {
  std::mt19937 random(32);
  const Addition addition = addition_of(GetParam());
  visit_addable(GetParam(), [&]<class T>() {
    for (int i = 0; i < 8192; ++i) {
      std::uint8_t a[16], b[16];
      for (int k = 0; k < 16; ++k) {
        a[k] = static_cast<std::uint8_t>(sizeof(T) == 1 ? i / 32 : static_cast<int>(random()));
        // Wide terms are no NaNs: bit 6 is in no byte of theirs.
        b[k] = static_cast<std::uint8_t>(sizeof(T) == 1 ? 16 * (i % 32) + k : static_cast<int>(random() & 0xbf));
      }
      Vector x, y;
      std::memcpy(&x, a, 16);
      std::memcpy(&y, b, 16);
      const Vector got = sums_of<16>(addition, x, y);
      for (std::size_t k = 0; k < 16; k += sizeof(T)) {
        T sum, term;
        std::memcpy(&sum, a + k, sizeof(T));
        std::memcpy(&term, b + k, sizeof(T));
        if (is_nan(addition, a[k]) && is_nan(addition, b[k])) continue;
        sum = sum + term;
        ASSERT_EQ(std::memcmp(reinterpret_cast<const std::byte*>(&got) + k, &sum, sizeof(T)), 0)
            << name(GetParam()) << " " << i << " " << k;
      }
    }
  });
}

std::vector<DType> addable() {
  std::vector<DType> list;
  for (DType dtype : all_dtypes()) {
    if (can_add(dtype)) list.push_back(dtype);
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(DTypes, Sums, ::testing::ValuesIn(addable()),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace backslice::cuda
