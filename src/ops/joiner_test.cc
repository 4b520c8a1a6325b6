// Parts joined into memory of the caller's.
#include "ops/joiner.h"

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

TEST(Joiner, ItemsOfNoBytesShareNoMemory) {
  std::vector<std::byte> memory(32);
  Joiner joiner(DType::Bytes, 0, 1);
  joiner.push_borrowed(memory.data() + 8, 3);
  EXPECT_FALSE(joiner.shares_memory_with(View::strided(memory.data(), DType::Bytes, {2}, {24}, 0).value()));
}

// [0, 1, 2, zeros of 4, 7, 8, ...] added to an output with gaps between its rows: minus zero stays if nothing is added.
TEST(Joiner, AddsOnlyWhatIsThereToOutputsWithGaps) {
  const auto terms = counting<float>(24);
  for (const std::int64_t first : {0, 1, 2, 3, 6, 7, 12}) {
    for (const std::int64_t zeros : {1, 2, 4, 5, 6, 9, 12}) {
      Joiner joiner(DType::Float32, 4, 4);
      const auto* data = reinterpret_cast<const std::byte*>(terms.data());
      joiner.push_borrowed(data, first);
      joiner.push_zeros(zeros);
      joiner.push_borrowed(data + 4 * (first + zeros), 0);
      joiner.push_borrowed(data + 4 * (first + zeros), 24 - first - zeros);
      std::vector<float> memory(96, -0.0f);
      const View out = View::strided(memory.data(), {4, 2, 3}, {24, 8, 2}).value();
      ASSERT_TRUE(joiner.join_into(out, Write::Accumulate, Call(Context{})).ok());
      std::int64_t i = 0;
      for_each_index(out.shape(), [&](const auto& index) {
        const float sum = *reinterpret_cast<const float*>(address(out, index));
        const bool taken = i < first || i >= first + zeros;
        EXPECT_EQ(sum, taken ? terms[static_cast<std::size_t>(i)] : 0) << first << " " << zeros << " at " << i;
        EXPECT_EQ(std::signbit(sum), !taken) << first << " " << zeros << " at " << i;
        ++i;
      });
    }
  }
}

TEST(Joiner, AddsToAScalarAndToNothing) {
  const float term = 2;
  float sum = 1;
  Joiner one(DType::Float32, 4, 1), none(DType::Float32, 4, 1);
  one.push_borrowed(reinterpret_cast<const std::byte*>(&term), 1);
  none.push_zeros(0);
  ASSERT_TRUE(one.join_into(View::strided(&sum, {}, {}).value(), Write::Accumulate, Call(Context{})).ok());
  ASSERT_TRUE(none.join_into(View::strided(&sum, {0, 3}, {2, 2}).value(), Write::Accumulate, Call(Context{})).ok());
  EXPECT_EQ(sum, 3);
}

}  // namespace
}  // namespace backslice
