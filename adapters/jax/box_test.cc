#include "box.h"

#include <gmock/gmock.h>

namespace backslice::jax {
namespace {

TEST(BoxOf, IsWhereTheShardLies) {
  const std::int32_t shard[] = {2, 0};
  const auto box = box_of(*Shape::make({8, 3}), *Shape::make({2, 3}), shard);
  ASSERT_TRUE(box) << box.status();
  EXPECT_EQ((*box)[0].lo, 4);
  EXPECT_EQ((*box)[0].hi, 6);
  EXPECT_EQ((*box)[1].hi, 3);
}

TEST(BoxOf, RefusesShardsOutsideTheTensor) {
  const std::int32_t shard[] = {4};
  EXPECT_FALSE(box_of(*Shape::make({8}), *Shape::make({2}), shard));
  EXPECT_FALSE(box_of(*Shape::make({8, 1}), *Shape::make({2}), shard));
  const std::int32_t negative[] = {-1};
  EXPECT_FALSE(box_of(*Shape::make({8}), *Shape::make({2}), negative));
}

}  // namespace
}  // namespace backslice::jax
