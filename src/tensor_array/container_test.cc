#include "backslice/tensor_array_container.h"
#include "tensor_arrays.h"

namespace backslice {
namespace {

using namespace testing;

TEST(TensorArrayContainer, NamesAndFindsArrays) {
  TensorArrayContainer c, other;
  TensorArray a = c.make(1, DType::Float32, {.name = "steps"}).value(),
              b = c.make(1, DType::Float32, {.name = "steps"}).value();
  EXPECT_THAT(c.names().value(), ElementsAre("steps_0", "steps_1"));
  EXPECT_EQ(c.find("steps_1").value(), b);
  EXPECT_FALSE(c.find("steps_0@loss").value());
  const TensorArray g = a.grad("loss").value();
  EXPECT_EQ(c.find("steps_0@loss").value(), g);
  EXPECT_FALSE(other.find("steps_0").value());
  EXPECT_TRUE(c.remove("steps_0").value());
  EXPECT_FALSE(c.find("steps_0").value());
}

TEST(TensorArrayContainer, NamesCannotCollide) {
  TensorArrayContainer c;
  EXPECT_TRUE(is_error(c.make(1, DType::Int8, {.name = "x_0@y"}), kInvalid, "'@'", "x_0@y"));
  std::mt19937 random(3);
  const auto random_name = [&](std::string_view parts) {
    std::string text;
    for (auto length = random() % 5; length > 0; --length) text += parts[random() % parts.size()];
    return text;
  };
  std::vector<TensorArray> all;
  for (int i = 0; i < 300; ++i) {
    all.push_back(c.make(1, DType::Float32, {.name = random_name("x_01")}).value());
    const TensorArray forward = all.back();
    for (int k = 0; k < 3; ++k) all.push_back(TensorArray(forward).grad(random_name("x_0@1")).value());
  }
  for (const TensorArray& array : all) EXPECT_EQ(c.find(array.name()).value(), array) << array.name();
  EXPECT_EQ(c.names().value().size(), 300u);
}

}  // namespace
}  // namespace backslice
