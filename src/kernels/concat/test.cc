// Segments in every way the kernel can run, against the reference.
#include "kernel_contexts.h"
#include "kernels/concat/kernel.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

class ConcatKernel : public ::testing::TestWithParam<KernelWay> {
 protected:
  // At an odd address, with bytes around that nobody may touch.
  template <class Kernel>
  std::vector<std::byte> run(std::int64_t bytes, const Kernel& kernel) {
    std::vector<std::byte> memory(static_cast<std::size_t>(bytes + 200), std::byte{0x5a});
    kernel(memory.data() + 71);
    return memory;
  }

  void expect_same(const std::vector<Segment>& segments, DType dtype, const std::vector<Sum>& sums = {},
                   Write write = Write::Overwrite) {
    std::int64_t bytes = 0;
    for (const Segment& segment : segments) bytes += segment.bytes;
    const std::int64_t size = item_size(dtype);
    EXPECT_EQ(run(bytes, [&](std::byte* dst) { concat(dst, segments, dtype, size, GetParam().context, sums, write); }),
              run(bytes, [&](std::byte* dst) { reference::concat(dst, segments, dtype, size, sums, write); }));
  }
};

std::vector<std::byte> random_bytes(std::mt19937& random, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  remove_nans(bytes);
  return bytes;
}

TEST_P(ConcatKernel, WritesZerosCopiesAndSumsAndLeavesOrAdds) {
  std::mt19937 random(31);
  const auto source = random_bytes(random, 1 << 16);
  constexpr DType kTypes[] = {DType::Float32, DType::Int64,   DType::BFloat16,
                              DType::UInt8,   DType::Float16, DType::Complex128};
  for (int i = 0; i < 40; ++i) {
    const DType dtype = kTypes[random() % std::size(kTypes)];
    const std::int64_t size = item_size(dtype);
    std::vector<Sum> sums;
    std::vector<Segment> segments;
    for (std::size_t count = random() % 30; count > 0; --count) {
      const std::int64_t most = random() % 5 == 0 ? 9000 : 60;
      const std::int64_t bytes = static_cast<std::int64_t>(random()) % (most / size + 1) * size;
      const auto somewhere = [&] {
        return source.data() + random() % (source.size() - static_cast<std::size_t>(bytes));
      };
      segments.push_back({random() % 3 == 0 ? nullptr : somewhere(), bytes});
      if (segments.back().first == nullptr || random() % 3 != 0) continue;
      sums.push_back({segments.size() - 1, {}});
      for (std::size_t terms = 1 + random() % 4; terms > 0; --terms) sums.back().terms.push_back(somewhere());
    }
    expect_same(segments, dtype, sums);
    for (const Write write : {Write::IntoZeros, Write::Accumulate}) expect_same(segments, dtype, {}, write);
  }
}

TEST_P(ConcatKernel, CutsOneLongSegment) {
  std::mt19937 random(32);
  const auto a = random_bytes(random, 100'000), b = random_bytes(random, 100'000);
  expect_same({{a.data(), 99'992}}, DType::Int64);
  expect_same({{a.data(), 99'992}}, DType::Float64, {{0, {b.data()}}});
  expect_same({{a.data(), 99'992}}, DType::Float64, {}, Write::Accumulate);
  expect_same({{nullptr, 99'999}}, DType::Int8);
}

TEST_P(ConcatKernel, AssignsStrings) {
  const std::vector<std::string> from = {"a longer string than fits in place, surely", "b", "c"};
  std::vector<std::string> to(5, "before");
  const auto* data = reinterpret_cast<const std::byte*>(from.data());
  constexpr std::int64_t kSize = sizeof(std::string);
  const std::vector<Segment> segments = {{data + kSize, 2 * kSize}, {nullptr, kSize}, {data, 2 * kSize}};
  concat(reinterpret_cast<std::byte*>(to.data()), segments, DType::String, kSize, GetParam().context);
  EXPECT_THAT(to, ElementsAre("b", "c", "", from[0], "b"));
  to.assign(5, "before");
  concat(reinterpret_cast<std::byte*>(to.data()), segments, DType::String, kSize, GetParam().context, {},
         Write::IntoZeros);
  EXPECT_THAT(to, ElementsAre("b", "c", "before", from[0], "b"));
}

INSTANTIATE_TEST_SUITE_P(Ways, ConcatKernel, ::testing::ValuesIn(kernel_ways()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace backslice
