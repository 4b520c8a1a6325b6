#include "plan/schedule.h"

#include "core/caches.h"
#include "plan/cut.h"
#include "plan/pages.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

Schedule gradient_of(const Selection& selection, Write write, DType dtype) {
  const std::int64_t size = item_size(dtype);
  return schedule_gradient(selection, contiguous_layout(selection.shape(), size),
                           contiguous_layout(selection.result_shape(), size), write, dtype);
}

TEST(Schedule, OneScheduleServesAnyNumberOfThreads) {
  const Schedule schedule = gradient_of(at({4096, 4096}, "::2"), Write::Overwrite, DType::Float32);
  EXPECT_EQ(schedule.work, 64 << 20);
  EXPECT_EQ(schedule.pieces(1), 1);
  EXPECT_EQ(schedule.pieces(2), 8);
  EXPECT_EQ(schedule.pieces(7), 28);
}

TEST(Schedule, SmallWorkIsNotCut) {
  const Schedule schedule = gradient_of(at({100}, ":"), Write::Overwrite, DType::Float32);
  EXPECT_EQ(schedule.work, 400);
  EXPECT_EQ(schedule.pieces(64), 1);
}

TEST(Schedule, AnExecutorMayWantLessWork) {
  const Schedule schedule = gradient_of(at({1 << 17}, ":"), Write::Overwrite, DType::Float32);
  EXPECT_EQ(schedule.pieces(2), 1);
  EXPECT_EQ(schedule.pieces(2, kParallelBytes / 2), 4);
  EXPECT_EQ(schedule.pieces(2, 8 * kParallelBytes), 1);
}

// If the result stays in the caches, one core is enough for megabytes of zeros.
TEST(Schedule, ZerosAreLittleWork) {
  const Schedule few = gradient_of(at({1 << 20}, "5"), Write::Overwrite, DType::Float32);
  EXPECT_EQ(few.strategy, Strategy::Cached);
  EXPECT_LT(few.work, 1 << 20);
  EXPECT_EQ(few.pieces(2), 1);
  EXPECT_GT(gradient_of(at({1 << 20}, ":"), Write::Overwrite, DType::Float32).pieces(2), 1);
  EXPECT_EQ(gradient_of(at({1 << 26}, "5"), Write::Overwrite, DType::Float32).work, 1 << 28);
}

TEST(Schedule, ZerosBetweenItemsAreMoreWorkThanZerosBetweenRows) {
  const Schedule items = gradient_of(at({256, 256}, ":, ::3"), Write::Overwrite, DType::Float64);
  const Schedule rows = gradient_of(at({256, 256}, "::3"), Write::Overwrite, DType::Float64);
  EXPECT_EQ(items.plan.taken_bytes(), rows.plan.taken_bytes());
  EXPECT_EQ(rows.pieces(2, kParallelBytes / 4), 1);
  EXPECT_GT(items.pieces(2, kParallelBytes / 4), 1);
  EXPECT_LT(items.work, 512 << 10);
}

TEST(Schedule, FreshZerosAreInHugePagesWhereTheyAreTouchedCloseTogether) {
  const auto policy_for = [](Ints shape, const char* index, FreeZeros free_zeros = FreeZeros::InAnyPages) {
    const Selection selection = at(shape, index);
    return schedule_new_gradient(selection, contiguous_layout(selection.result_shape(), 4), free_zeros, DType::Float32);
  };
  const bool has_any = huge_page_bytes() > 0;
  EXPECT_FALSE(policy_for({1 << 26}, "100:200").in_huge_pages);
  EXPECT_EQ(policy_for({1 << 26}, "5000000:6000000").in_huge_pages, has_any);
  EXPECT_FALSE(policy_for({1 << 26}, "::671089").in_huge_pages) << "each in a huge page of its own";
  EXPECT_FALSE(policy_for({1 << 26}, "5000000:6000000", FreeZeros::AsTouched).in_huge_pages);
  EXPECT_EQ(policy_for({1 << 26}, "5000000:6000000").strategy, Strategy::FreshZeros);
  EXPECT_EQ(policy_for({1 << 26}, "5000000:15000000").strategy, has_any ? Strategy::FreshZeros : Strategy::Streaming);
  EXPECT_EQ(policy_for({1 << 26}, "5000000:15000000", FreeZeros::AsTouched).strategy, Strategy::Streaming);
}

TEST(Schedule, MemoryThatStaysIsInHugePagesWhereTheseAreFilled) {
  const auto fills = [](Ints shape, const char* index) {
    return fills_huge_pages(at(shape, index), contiguous_layout(Shape::make(shape).value(), 4));
  };
  const bool has_any = huge_page_bytes() > 0;
  EXPECT_EQ(fills({1 << 24}, ":"), has_any);
  EXPECT_EQ(fills({1024, 1 << 19}, ":, ::2"), has_any);
  EXPECT_EQ(fills({1024, 1 << 19}, ":100"), has_any) << "the rest takes no memory";
  EXPECT_FALSE(fills({1024, 1 << 19}, ":, :26624")) << "a twentieth of all huge pages";
  EXPECT_FALSE(fills({1 << 26}, "::671089"));
  EXPECT_FALSE(fills({1 << 16}, ":")) << "too small";
}

TEST(Schedule, AdditionBitByBitIsMoreWorkThanACopyOfAsManyBytes) {
  const Selection all = at({1 << 16}, ":");
  const Schedule copied = gradient_of(all, Write::Overwrite, DType::Float8E4M3FN);
  const Schedule added = gradient_of(all, Write::Accumulate, DType::Float8E4M3FN);
  EXPECT_EQ(copied.pieces(4), 1);
  EXPECT_GT(added.work, copied.work);
  EXPECT_GT(added.pieces(4), 1);
}

TEST(Schedule, WhatIsDoneOneByOneIsNotCut) {
  const Schedule schedule = gradient_of(at({1 << 20}, "::2"), Write::Overwrite, DType::String);
  EXPECT_EQ(schedule.strategy, Strategy::OneByOne);
  EXPECT_EQ(schedule.pieces(4), 1);
}

TEST(Schedule, AnEmptyResultIsNoWork) {
  const Schedule schedule = gradient_of(at({0, 5}, ":"), Write::Overwrite, DType::Float32);
  EXPECT_EQ(schedule.strategy, Strategy::Nothing);
  EXPECT_EQ(schedule.work, 0);
  EXPECT_EQ(schedule.pieces(4), 1);
}

TEST(Schedule, WorkThatDoesNotFitIsAsMuchAsFits) {
  const Schedule schedule = gradient_of(at({std::int64_t{1} << 62}, ":"), Write::Accumulate, DType::Float8E4M3FN);
  EXPECT_GT(schedule.work, std::int64_t{1} << 62);
  EXPECT_GT(schedule.pieces(4), 16);
}

// A region of a tensor that is larger than the caches is not in them either, however small it is.
TEST(Schedule, PartsOfLargeTensorsAreStreamed) {
  const Layout part = contiguous_layout(*Shape::make({100}), 4);
  const std::int64_t large = 2 * cache_for_results();
  for (const Schedule& schedule :
       {schedule_copy(part, part, DType::Float32, large), schedule_zero(part, DType::Float32, large)}) {
    EXPECT_EQ(schedule.strategy, Strategy::Streaming);
    EXPECT_EQ(schedule.stores, Stores::Streaming);
    EXPECT_EQ(schedule.work, 400);
  }
  for (const Schedule& schedule :
       {schedule_copy(part, part, DType::Float32, 800), schedule_zero(part, DType::Float32)}) {
    EXPECT_EQ(schedule.strategy, Strategy::Cached);
    EXPECT_EQ(schedule.stores, Stores::Ordinary);
  }
  const Layout strings = contiguous_layout(*Shape::make({100}), item_size(DType::String));
  EXPECT_EQ(schedule_zero(strings, DType::String, large).strategy, Strategy::OneByOne);
}

TEST(Cut, PiecesAreEqualForEachThreadAndNeverNone) {
  for (const int threads : {1, 2, 3, 16}) {
    for (const std::int64_t least : {kParallelBytes / 8, kParallelBytes, 8 * kParallelBytes}) {
      for (std::int64_t work = 1; work < 1 << 25; work += 99'991) {
        const std::int64_t pieces = pieces_for(work, threads, least);
        EXPECT_GE(pieces, 1) << work;
        EXPECT_TRUE(pieces <= threads || pieces % threads == 0) << work << " in " << pieces << " pieces";
        EXPECT_EQ(pieces > 1, threads > 1 && work >= least) << work << " in " << pieces << " pieces";
      }
    }
  }
}

TEST(Cut, WorkIsBytesTimesTheirCost) {
  EXPECT_EQ(work_of(1000, 32), 32000);
  EXPECT_EQ(work_of(0, 32), 0);
}

}  // namespace
}  // namespace backslice
