// Gradient arrays: the writes to an index are added up.
#include "backslice/tensor_array.h"
#include "tensor_arrays.h"

namespace backslice {
namespace {

using namespace testing;

TEST(TensorArrayGrad, SourcesAndNames) {
  TensorArray a = array(2);
  TensorArray x = a.grad("x").value(), again = a.grad("x").value(), none = a.grad("").value();
  EXPECT_EQ(x, again);
  EXPECT_FALSE(x == none);
  EXPECT_EQ(x.name(), "steps@x");
  EXPECT_THAT(message(x.grad("y")), HasSubstr("a gradient of a gradient array cannot be made"));
}

TEST(TensorArrayGrad, OfAnArrayWithoutANameIsNamedByItsSource) {
  TensorArray array = TensorArray::make(1, DType::Float32).value();
  EXPECT_THAT(message(array.read(7)), HasSubstr("TensorArray: Tried to read from index 7"));
  EXPECT_THAT(message(array.grad("loss").value().write(7, tensor_of<float>({1}, {1}))),
              HasSubstr("the gradient \"loss\" of a TensorArray: Tried to write to index 7"));
}

TEST(TensorArrayGrad, WritesAddUpInOrder) {
  TensorArray g = array(1).grad("x").value();
  for (float v : {1e8f, 1.f, -1e8f}) ASSERT_TRUE(g.write(0, tensor_of({v}, {1})).ok());
  EXPECT_THAT(read(g, 0), ElementsAre(0));
  TensorArray many = array(1).grad("x").value();
  for (int i = 1; i <= 100; ++i) ASSERT_TRUE(many.write(0, tensor_of({static_cast<float>(i)}, {1})).ok());
  EXPECT_THAT(read(many, 0), ElementsAre(5050));
  EXPECT_THAT(message(many.write(0, tensor_of({1}, {1}))), HasSubstr("already been read"));
}

TEST(TensorArrayGrad, KeepsAtMostSoManyTerms) {
  TensorArray g = array(1).grad("x").value();
  const Tensor v = tensor_of({1}, {1});
  const long before = v.buffer().use_count();
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(g.write(0, v).ok());
    EXPECT_LE(v.buffer().use_count(), before + static_cast<long>(TensorArray::kMaxTerms));
  }
}

TEST(TensorArrayGrad, WhatCannotBeAddedIsWrittenOnce) {
  TensorArray a = TensorArray::make(1, DType::String).value();
  TensorArray g = a.grad("x").value();
  ASSERT_TRUE(g.write(0, tensor_of<std::string>({"a"}, {1})).ok());
  EXPECT_TRUE(g.write(0, tensor_of<std::string>({"b"}, {1})).is_about_dtype());
}

TEST(TensorArrayGrad, TakesTheShapesOfWhatWasWritten) {
  TensorArray a = array(3, {.dynamic_size = true});
  ASSERT_TRUE(a.write(0, tensor_of({1, 2}, {2})).ok());
  ASSERT_TRUE(a.read(0).ok());  // cleared, and its shape is still known
  TensorArray g = a.grad_with_shape("x", {3}).value();
  EXPECT_THAT(Ints(g.read(0).value().shape()), ElementsAre(3, 2));
  EXPECT_FALSE(g.read(1).ok());
  EXPECT_FALSE(a.write(3, tensor_of({1}, {1})).ok());  // the size is fixed now
  TensorArray h = a.grad("h").value();
  EXPECT_THAT(message(h.write(0, tensor_of({1}, {1}))),
              HasSubstr("because its shape is [2], but the value has shape [1]"));
}

TEST(TensorArrayGrad, PrependedShapes) {
  TensorArray a = array(1, {.element_shape = shape({2})});
  EXPECT_THAT(Ints(a.grad_with_shape("x", {3, 0}).value().read(0).value().shape()), ElementsAre(3, 0, 2));
  EXPECT_THAT(message(a.grad_with_shape("y", {-1})), HasSubstr("imension -1 must be >= 0"));
  EXPECT_FALSE(a.grad_with_shape("y", {std::int64_t{1} << 62}).ok());
  EXPECT_FALSE(a.grad_with_shape("y", std::vector<std::int64_t>(32, 1)).ok());
  EXPECT_EQ(a.grad_with_shape("x", {7}).value(), a.grad("x").value());  // the first decides
  EXPECT_FALSE(a.grad_with_shape("x", {-7}).ok());                      // but it is checked
  auto both = tensor_array_grad_with_shape(a, 0.5f, {3}, "z").value();
  EXPECT_EQ(both.flow_out, 0);
  EXPECT_EQ(both.grad_handle.name(), "steps@z");
}

TEST(TensorArrayGrad, ReadsPastItsSizeGrowIt) {
  TensorArray g = array(1, {.element_shape = shape({2})}).grad("x").value();
  EXPECT_THAT(read(g, 5), ElementsAre(0, 0));
  EXPECT_EQ(g.size().value(), 6);
  EXPECT_FALSE(array(1).grad("x").value().read(5).ok());
}

// Memory that a slot no longer needs is released when no lock is held: its owner may use the array.
TEST(TensorArray, OwnersOfWhatIsLetGoOfMayUseTheArray) {
  TensorArray g = TensorArray::make(2, DType::Float32).value().grad("x").value();
  int asked = 0;
  const auto owned = [&] {
    auto* data = new float[2]{1, 1};
    const std::shared_ptr<void> owner(data, [&, data](void*) {
      EXPECT_TRUE(g.size().ok());
      ++asked;
      delete[] data;
    });
    const View view = View::contiguous(data, DType::Float32, {2}).value();
    return Tensor::of(Buffer::wrap(owner, view.data), view);
  };
  for (std::size_t i = 0; i < TensorArray::kMaxTerms + 1; ++i) ASSERT_TRUE(g.write(0, owned()).ok());
  EXPECT_EQ(asked, static_cast<int>(TensorArray::kMaxTerms) + 1);
  EXPECT_EQ(elements<float>(g.read(0).value())[0], TensorArray::kMaxTerms + 1);
}

TEST(TensorArray, SumsOfItemsWithoutBytesTakeNoTime) {
  TensorArray g = TensorArray::make(1, DType::Bytes, {.item_size = 0}).value();
  const Shape shape = *Shape::make({std::int64_t{1} << 60});
  ASSERT_TRUE(g.write(0, Tensor::make(DType::Bytes, shape, 0).value()).ok());
  EXPECT_TRUE(g.concat().ok());
}

TEST(TensorArray, ManyWritesToOneIndexOfAGradientAddUpInOrder) {
  TensorArray g = TensorArray::make(3, DType::Float32).value().grad("x").value();
  std::vector<std::int64_t> indices;
  for (int i = 0; i < 40; ++i) indices.push_back(i % 3);
  ASSERT_TRUE(g.scatter(indices, tensor_of(counting<float>(40), {40})).ok());
  for (int index = 0; index < 3; ++index) {
    float expected = 0;
    for (int i = index; i < 40; i += 3) expected += static_cast<float>(i + 1);
    EXPECT_EQ(elements<float>(g.read(index).value())[0], expected);
  }
}

}  // namespace
}  // namespace backslice
