#include "backslice/cost.h"

#include "plan/pages.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

Result<GradientCost> cost_of(Ints shape, const char* index, DType dtype = DType::Float32) {
  return slice_grad_cost(Selection::from_index(shape, index).value(), dtype);
}

TEST(SliceGradCost, CountsTheBytesOfBothSides) {
  const GradientCost cost = cost_of({4, 6}, "1:3, ::2").value();
  EXPECT_EQ(cost.bytes_read, 2 * 3 * 4);
  EXPECT_EQ(cost.bytes_written, 4 * 6 * 4);
  EXPECT_EQ(cost.bytes_result, 4 * 6 * 4);
  EXPECT_EQ(cost.strategy, Strategy::Cached);
  EXPECT_EQ(cost.pieces, 1);
}

TEST(SliceGradCost, LargeResultsGoPastTheCaches) {
  const GradientCost cost = cost_of({1 << 16, 1 << 14}, "::2").value();
  EXPECT_EQ(cost.strategy, Strategy::Streaming);
  EXPECT_EQ(cost.bytes_written, std::int64_t{1} << 32);
  EXPECT_EQ(cost.pieces > 1, num_threads() > 1);
}

TEST(SliceGradCost, ASmallPartOfALargeTensorTouchesItsPagesAlone) {
  const GradientCost cost = cost_of({1 << 26}, "100:200").value();
  EXPECT_EQ(cost.strategy, Strategy::FreshZeros);
  EXPECT_LE(cost.bytes_written, 4 * page_bytes());
  EXPECT_EQ(cost.bytes_result, std::int64_t{1} << 28);
}

TEST(SliceGradCost, EmptyResultsAndStrings) {
  EXPECT_EQ(cost_of({0, 5}, ":").value().strategy, Strategy::Nothing);
  EXPECT_EQ(cost_of({5}, "1:2", DType::String).value().strategy, Strategy::OneByOne);
}

TEST(SliceGradCost, ThePlanIsTheOneThatRuns) {
  EXPECT_EQ(cost_of({4, 5}, "1:3").value().plan,
            "items of 4 bytes, first at 0 from 0\n"
            "  for 20 positions 4 bytes apart: take 10 from position 5 by 1, 4 bytes apart\n");
  // With fresh zeros, only the selected elements are written.
  const GradientCost cost = cost_of({1 << 13, 1 << 10}, "7").value();
  EXPECT_EQ(cost.strategy, Strategy::FreshZeros);
  EXPECT_EQ(cost.plan, "items of 4096 bytes, first at 28672 from 0\n");
}

TEST(SliceGradCost, RefusesWhatTheGradientRefuses) {
  EXPECT_THAT(cost_of({4}, "1:3", DType::Float8E8M0FNU).status().message(), HasSubstr("zero"));
  EXPECT_TRUE(cost_of({4}, "::-1", DType::Float8E8M0FNU).ok());
  EXPECT_FALSE(cost_of({std::int64_t{1} << 62}, "1:3", DType::Float32).ok());
  EXPECT_FALSE(slice_grad_cost(Selection::all(Shape::make({2}).value()), DType::Bytes, -1).ok());
}

// -- On a CUDA device, which need not exist

Result<GradientCost> device_cost_of(Ints shape, const char* index, DType dtype = DType::Float32) {
  return slice_grad_cost(Selection::from_index(shape, index).value(), dtype, 0, Device::cuda(0));
}

TEST(SliceGradCostOnCuda, CountsTheBytesOfBothSides) {
  const GradientCost cost = device_cost_of({1 << 26}, "100:200").value();
  EXPECT_EQ(cost.bytes_read, 400);
  EXPECT_EQ(cost.bytes_written, std::int64_t{1} << 28);
  EXPECT_EQ(cost.bytes_result, std::int64_t{1} << 28);
  EXPECT_EQ(cost.strategy, Strategy::Gather);
  EXPECT_EQ(cost.pieces, 1);
}

TEST(SliceGradCostOnCuda, RowsAreCopiedSixteenBytesAtATime) {
  EXPECT_EQ(device_cost_of({64, 64}, "16:48").value().plan,
            "kernel chunks_of_16_loops_1: 1024 parts of 16 bytes, copied\n"
            "  for 1024 positions 16 bytes apart: take 512 from position 256 by 1, 16 bytes apart\n");
}

TEST(SliceGradCostOnCuda, TellsHowThreadsPutTheirBytesTogether) {
  const auto plan_of = [](const char* index, DType dtype) {
    return device_cost_of({64, 64}, index, dtype).value().plan;
  };
  EXPECT_THAT(plan_of(":, 1:40", DType::Float32), HasSubstr("chunks_of_4_loops_2: 1024 parts of 16 bytes, copied"));
  EXPECT_THAT(plan_of(":, ::-1", DType::Float32), HasSubstr("16 bytes, reversed"));
  EXPECT_THAT(plan_of(":, ::2", DType::Float16), HasSubstr("16 bytes, spread"));
  EXPECT_THAT(plan_of(":, ::2", DType::Float64), HasSubstr("16 bytes, item by item"));
  EXPECT_THAT(plan_of("3:3", DType::Float64), HasSubstr("parts of 16 bytes of zeros"));
}

TEST(SliceGradCostOnCuda, WhatIsTooLargeToBeCountedTakesSeveralKernels) {
  const GradientCost cost = device_cost_of({3, std::int64_t{1} << 30}, ":, ::3", DType::Int8).value();
  EXPECT_GT(cost.pieces, 1);
  std::size_t told = 0;
  for (std::size_t at = 0; (at = cost.plan.find("kernel ", at)) != std::string::npos; ++at) ++told;
  EXPECT_EQ(static_cast<std::int64_t>(told), cost.pieces);
}

TEST(SliceGradCostOnCuda, NothingIsNothing) {
  const GradientCost cost = device_cost_of({0, 5}, ":").value();
  EXPECT_EQ(cost.strategy, Strategy::Nothing);
  EXPECT_EQ(cost.pieces, 0);
  EXPECT_EQ(cost.plan, "");
}

TEST(SliceGradCostOnCuda, RefusesWhatTheGradientRefuses) {
  EXPECT_THAT(device_cost_of({4}, "1:3", DType::Float8E8M0FNU).status().message(), HasSubstr("zero"));
  EXPECT_EQ(device_cost_of({4}, "1:3", DType::String).status().code(), StatusCode::Unimplemented);
  EXPECT_EQ(device_cost_of({std::int64_t{1} << 50}, "1:3").status().code(), StatusCode::ResourceExhausted);
}

TEST(SliceGradCost, StrategiesHaveNames) {
  EXPECT_EQ(name(Strategy::Streaming), "streaming");
  EXPECT_EQ(name(Strategy::FreshZeros), "fresh zeros");
  EXPECT_EQ(name(Strategy::Gather), "gather");
}

}  // namespace
}  // namespace backslice
