#include "backslice/buffer_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <thread>

#include "backslice/tensor.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

Result<Buffer> memory(std::int64_t bytes) { return pool_allocator().allocate(bytes, Contents::Uninitialised); }
Result<Buffer> zeros(std::int64_t bytes) { return pool_allocator().allocate(bytes, Contents::Zero); }

constexpr std::int64_t kMegabyte = 1 << 20;

class BufferPool : public ::testing::Test {
 protected:
  void SetUp() override {
    original_limit_ = pool_stats().limit;
    trim_pool();
  }
  void TearDown() override { EXPECT_TRUE(set_pool_limit(original_limit_).ok()); }

  std::int64_t original_limit_ = 0;
};

TEST_F(BufferPool, RequestsPastTheMachineAreRefusedWhateverIsKept) {
  memory(kMegabyte).value();  // kept from now on: sizes that wrap around must not find it
  for (std::int64_t bytes : {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max() - 4095,
                             std::int64_t{1} << 62, std::int64_t{1} << 50}) {
    EXPECT_TRUE(is_error(memory(bytes).status(), StatusCode::ResourceExhausted, std::to_string(bytes)));
    EXPECT_TRUE(is_error(zeros(bytes).status(), StatusCode::ResourceExhausted, std::to_string(bytes)));
  }
  EXPECT_TRUE(is_error(memory(-1).status(), StatusCode::InvalidArgument, "bytes is -1"));
  EXPECT_TRUE(is_error(zeros(-1).status(), StatusCode::InvalidArgument, "bytes is -1"));
}

#if !defined(__SANITIZE_ADDRESS__)  // then no small memory is kept
const std::byte* address_of_released(std::int64_t bytes) {
  const Buffer buffer = memory(bytes).value();
  return buffer.data();
}

TEST_F(BufferPool, AThreadReusesTheSmallMemoryThatItReleasedLast) {
  const std::byte* address = address_of_released(16 << 10);
  for (std::int64_t bytes : {(16 << 10), (16 << 10) - 100, 9 << 10}) {
    const Buffer again = memory(bytes).value();
    EXPECT_EQ(again.data(), address) << bytes;
    EXPECT_NE(address_of_released(bytes), address) << "it is in use";
  }
}

TEST_F(BufferPool, SmallMemoryThatDoesNotFitIsNotReused) {
  for (std::int64_t bytes : {(16 << 10) + 64, 60 << 10, 7 << 10, 1}) {
    const std::byte* address = address_of_released(16 << 10);
    const Buffer other = memory(bytes).value();
    EXPECT_NE(other.data(), address) << bytes;
    std::memset(other.data(), 1, static_cast<std::size_t>(bytes));
  }
}

TEST_F(BufferPool, SmallMemoryStaysWithTheThreadThatReleasesIt) {
  Buffer given = memory(16 << 10).value();
  const std::byte* address = given.data();
  std::thread([&, taken = std::move(given)]() mutable {
    taken = Buffer();
    EXPECT_EQ(address_of_released(16 << 10), address);
  }).join();
}
#endif

TEST_F(BufferPool, AThreadMayReleaseSmallMemoryWhenItsObjectsEnd) {
  std::thread([] {
    thread_local Buffer last = Buffer();  // made before, so it ends after the thread's memory of the allocator
    last = memory(16 << 10).value();
    (void)memory(16 << 10);
    thread_local Buffer first = memory(16 << 10).value();
  }).join();
}

TEST_F(BufferPool, ReusesABlockAfterItsLastOwnerIsGone) {
  const PoolStats before = pool_stats();
  Buffer a = memory(8 * kMegabyte).value();
  const std::byte* address = a.data();
  Buffer copy = a;
  a = Buffer();
  EXPECT_EQ(pool_stats().bytes_kept, 0);
  EXPECT_EQ(pool_stats().bytes_in_use, before.bytes_in_use + 8 * kMegabyte);
  copy = Buffer();
  EXPECT_EQ(pool_stats().bytes_kept, 8 * kMegabyte);
  copy = *memory(8 * kMegabyte - 100);
  EXPECT_EQ(copy.data(), address);
  copy = Buffer();
  EXPECT_EQ(pool_stats().reused, before.reused + 1);
  EXPECT_EQ(pool_stats().mapped, before.mapped + 1);
}

TEST_F(BufferPool, LargeBlocksAreAlignedToHugePages) {
  const Buffer buffer = memory(5 * kMegabyte).value();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % (2 * kMegabyte), 0u);
}

TEST_F(BufferPool, DoesNotWasteABlockOnAMuchSmallerResult) {
  (void)memory(32 * kMegabyte).value();
  EXPECT_EQ(pool_stats().bytes_kept, 32 * kMegabyte);
  const Buffer small = memory(4 * kMegabyte).value();
  EXPECT_EQ(pool_stats().bytes_kept, 32 * kMegabyte);
}

TEST_F(BufferPool, KeepsNoMoreThanItsLimit) {
  EXPECT_TRUE(set_pool_limit(20 * kMegabyte).ok());
  {
    const Buffer a = memory(8 * kMegabyte).value(), b = memory(12 * kMegabyte).value();
    const Buffer c = memory(30 * kMegabyte).value(), d = memory(6 * kMegabyte).value();
  }
  EXPECT_LE(pool_stats().bytes_kept, 20 * kMegabyte);
  EXPECT_GT(pool_stats().bytes_kept, 0);
  EXPECT_TRUE(set_pool_limit(0).ok());
  EXPECT_EQ(pool_stats().bytes_kept, 0);
  EXPECT_TRUE(is_error(set_pool_limit(-1), kInvalid, "-1"));
}

TEST_F(BufferPool, RecycledMemoryShowsNoStaleBytes) {
  const Selection middle = *Selection::from_index({1024, 1024}, "100:200, 7::3");
  const auto dy = counting<float>(middle.result_shape().elements());
  const Tensor first = slice_grad(middle, view_of(dy, middle.result_shape())).value();
  const std::vector<std::byte> expected(first.view().data, first.view().data + 4 * kMegabyte);
  for (int i = 0; i < 3; ++i) {
    {
      Buffer poison = memory(4 * kMegabyte).value();
      std::fill_n(poison.data(), 4 * kMegabyte, std::byte{0xff});
    }
    const Tensor again = slice_grad(middle, view_of(dy, middle.result_shape())).value();
    EXPECT_EQ(std::memcmp(again.view().data, expected.data(), expected.size()), 0);
  }
}

// Returns the resident bytes of a mapping that starts at a page. (Those of the whole process may grow for other
// reasons, above all under an emulator.)
std::int64_t resident_bytes(const std::byte* data, std::int64_t bytes) {
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  std::vector<unsigned char> resident(static_cast<std::size_t>((bytes + page - 1) / page));
  EXPECT_EQ(mincore(const_cast<std::byte*>(data), static_cast<std::size_t>(bytes), resident.data()), 0);
  return page * std::count_if(resident.begin(), resident.end(), [](unsigned char bits) { return bits & 1; });
}

TEST_F(BufferPool, ASmallPartOfALargeTensorTouchesOnlyItsPages) {
  const Selection few = *Selection::from_index({1 << 28}, "100:200");
  const auto dy = counting<float>(100);
  Tensor dx = slice_grad(few, view_of(dy, {100})).value();  // 1 GiB
  const std::int64_t resident = resident_bytes(dx.view().data, std::int64_t{1} << 30);
  EXPECT_GE(resident, 100 * 4);
  EXPECT_LE(resident, kMegabyte);
  EXPECT_EQ(dx.elements<float>().value()[100], 1);
  EXPECT_EQ(dx.elements<float>().value()[199], 100);
  EXPECT_EQ(dx.elements<float>().value()[200], 0);
  EXPECT_EQ(dx.elements<float>().value()[(1 << 28) - 1], 0);
}

}  // namespace
}  // namespace backslice
