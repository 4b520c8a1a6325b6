// Elements of every layout and size: views, blocks, and empty ones.
#include "backslice/tensor_array.h"
#include "tensor_arrays.h"

namespace backslice {
namespace {

using namespace testing;

// The address of a tensor's first element, for tests that hold its memory too.
const std::byte* address_in_array(const Tensor& tensor) { return tensor.data(); }

TEST(TensorArray, NeighboursAreViews) {
  TensorArray a = array(4, {.clear_after_read = false});
  const Tensor v = tensor_of({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2});
  ASSERT_TRUE(a.unstack(v).ok());
  EXPECT_EQ(address_in_array(a.stack().value()), v.view().data);
  EXPECT_EQ(address_in_array(a.gather({1, 2}).value()), v.view().data + 8);
  EXPECT_NE(address_in_array(a.gather({2, 1}).value()), v.view().data + 16);
  EXPECT_EQ(address_in_array(a.concat().value().value), v.view().data);
  EXPECT_EQ(address_in_array(a.read(3).value()), v.view().data + 24);
}

TEST(TensorArray, ContiguousModeStacksWithoutACopy) {
  TensorArray a = array(3, {.element_shape = shape({2}), .contiguous = true});
  ASSERT_TRUE(a.write(2, tensor_of({5, 6}, {2})).ok());
  ASSERT_TRUE(a.write(0, tensor_of({1, 2}, {2})).ok());
  EXPECT_THAT(elements<float>(a.stack().value()), ElementsAre(1, 2, 0, 0, 5, 6));
  EXPECT_THAT(message(a.stack()), HasSubstr("twice"));
  EXPECT_THAT(message(a.write(1, tensor_of({5, 6}, {2}))), HasSubstr("already been read"));
  EXPECT_FALSE(TensorArray::make(3, DType::Float32, {.contiguous = true}).ok());
  const std::vector<std::int64_t> deep(32, 1);  // one more with the array's own axis
  EXPECT_THAT(message(TensorArray::make(3, DType::Float32, {.element_shape = shape(deep), .contiguous = true})),
              HasSubstr("33 axes"));
}

TEST(TensorArray, ElementsOfAnyStridesAndStrings) {
  TensorArray a = array(2);
  Tensor v = tensor_of({1, 2, 3, 4}, {2, 2});
  View turned = v.view();
  std::swap(turned.layout.strides[0], turned.layout.strides[1]);
  ASSERT_TRUE(a.unstack(Tensor::of(v.buffer(), turned)).ok());
  EXPECT_THAT(elements<float>(a.stack().value()), ElementsAre(1, 3, 2, 4));
  TensorArray words = TensorArray::make(2, DType::String, {.element_shape = shape({1})}).value();
  ASSERT_TRUE(words.write(1, tensor_of<std::string>({"a word"}, {1})).ok());
  EXPECT_THAT(elements<std::string>(words.stack().value()), ElementsAre("", "a word"));
}

// An element without elements may have no memory; its neighbours' memory is not looked for there.
TEST(TensorArray, ConcatAfterAnElementWithoutMemory) {
  TensorArray array = TensorArray::make(2, DType::Float32).value();
  const Tensor nothing = Tensor::of(Buffer(), View::contiguous(nullptr, DType::Float32, {0}).value());
  ASSERT_TRUE(array.write(0, nothing).ok() && array.write(1, tensor_of<float>({1, 2}, {2})).ok());
  EXPECT_THAT(elements<float>(array.concat().value().value), ElementsAre(1, 2));
}

TEST(TensorArray, OfNoElementsTheArraysShapeWillDo) {
  const auto array = [](Ints dims) {
    return TensorArray::make(0, DType::Float32, {.element_shape = *PartialShape::make(dims)}).value();
  };
  EXPECT_THAT(Ints(array({3, 5}).concat().value().value.shape()), ElementsAre(0, 5));
  EXPECT_THAT(Ints(array({-1, 5}).concat().value().value.shape()), ElementsAre(0, 5));
  EXPECT_THAT(Ints(array({-1, -1}).concat(*PartialShape::make({7})).value().value.shape()), ElementsAre(0, 7));
  EXPECT_THAT(Ints(array({3, 5}).gather({}).value().shape()), ElementsAre(0, 3, 5));
  EXPECT_TRUE(is_error(array({}).concat(), kInvalid, "concat joins elements along their first axis"));
  EXPECT_TRUE(is_error(array({3, 5}).concat(*PartialShape::make({4})), kInvalid, "element_shape_except0 is [4]"));
  EXPECT_TRUE(is_error(array({3, -1}).concat(), StatusCode::Unimplemented, "after the first are defined"));
  EXPECT_TRUE(is_error(array({3, -1}).gather({}), StatusCode::Unimplemented, "fully defined"));
}

TEST(TensorArray, ElementsOfNoRowsMayBeHuge) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  const PartialShape inner = *PartialShape::make({kHuge, kHuge});
  EXPECT_THAT(Ints(TensorArray::make(0, DType::Float32, {.element_shape = inner}).value().stack().value().shape()),
              ElementsAre(0, kHuge, kHuge));
  EXPECT_TRUE(is_error(TensorArray::make(1, DType::Float32, {.element_shape = inner}).value().read(0), kInvalid,
                       "more than 2**63 - 1 elements"));
  TensorArray array = TensorArray::make(2, DType::Float32).value();
  const Tensor none = Tensor::make(DType::Float32, *Shape::make({0, kHuge, kHuge})).value();
  ASSERT_TRUE(array.write(0, none).ok() && array.write(1, none).ok());
  EXPECT_THAT(Ints(array.concat().value().value.shape()), ElementsAre(0, kHuge, kHuge));
  TensorArray rows = TensorArray::make(0, DType::Int8, {.dynamic_size = true}).value();
  const Tensor many = Tensor::make(DType::Int8, *Shape::make({std::int64_t{1} << 62, 0})).value();
  EXPECT_TRUE(is_error(rows.unstack(many), StatusCode::ResourceExhausted, "too many to be unstacked"));
}

}  // namespace
}  // namespace backslice
