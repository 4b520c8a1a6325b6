// The behaviour of TensorFlow's TensorArrayV3 operations, as named tests; tests/oracle runs random programs against the
// real one.
#include "backslice/tensor_array.h"

#include "tensor_arrays.h"

namespace backslice {
namespace {

using namespace testing;

TEST(TensorArray, CreateRefusesNegativeSizes) {
  EXPECT_THAT(message(TensorArray::make(-1, DType::Float32)), HasSubstr("TensorArray: size is -1, must be >= 0"));
  EXPECT_FALSE(TensorArray::make(std::int64_t{1} << 40, DType::Float32).ok());
  EXPECT_TRUE(
      TensorArray::make((std::int64_t{1} << 31) - 1, DType::Float32).ok());  // no slot is made before it is used
}

TEST(TensorArray, WriteThenRead) {
  TensorArray a = array(2);
  ASSERT_TRUE(a.write(1, tensor_of({1, 2}, {2})).ok());
  EXPECT_THAT(read(a, 1), ElementsAre(1, 2));
}

TEST(TensorArray, WritesMemoryOfAnOwner) {
  auto owner = std::make_shared<std::vector<float>>(counting<float>(2));
  const ConstView value = ConstView::of(*owner, {2}).value();
  TensorArray a = array(2);
  ASSERT_TRUE(a.write(0, value, owner).ok());
  EXPECT_EQ(owner.use_count(), 2);
  EXPECT_EQ(a.contents().value().elements[0].value->data(), value.data);
  EXPECT_THAT(message(a.write(0, value, owner)), HasSubstr("already been written"));
  EXPECT_EQ(owner.use_count(), 2);
  ASSERT_TRUE(a.write(1, value, nullptr).ok());
  TensorArray grad = a.grad("g").value();
  ASSERT_TRUE(grad.write(0, value, owner).ok());
  ASSERT_TRUE(grad.write(0, value, owner, Context()).ok());
  EXPECT_EQ(owner.use_count(), 4);
  EXPECT_THAT(read(grad, 0), ElementsAre(2, 4));
  EXPECT_THAT(*owner, ElementsAre(1, 2));
  ASSERT_TRUE(a.close().ok());
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(TensorArray, WriteOutOfRange) {
  TensorArray a = array(2);
  const Tensor v = tensor_of({1}, {1});
  EXPECT_THAT(message(a.write(2, v)),
              HasSubstr("TensorArray steps: Tried to write to index 2, but the array has 2 elements and a fixed size"));
  EXPECT_THAT(message(a.write(-1, v)), HasSubstr("Tried to write to index -1"));
  TensorArray dynamic = array(0, {.dynamic_size = true});
  EXPECT_THAT(message(dynamic.write(-1, v)), HasSubstr("Tried to write to index -1, which must be >= 0"));
  EXPECT_TRUE(dynamic.write((std::int64_t{1} << 31) - 2, v).ok());
  EXPECT_EQ(dynamic.size().value(), (std::int64_t{1} << 31) - 1);
  EXPECT_FALSE(dynamic.write(std::int64_t{1} << 40, v).ok());
}

TEST(TensorArray, TheFirstWriteDecidesTheDevice) {
  TensorArray array = TensorArray::make(2, DType::Float32, {.any_device = true}).value();
  const Tensor value = tensor_of<float>({1}, {1});
  ASSERT_TRUE(array.write(0, value).ok());
  Tensor shared = value;
  View elsewhere = shared.view();
  elsewhere.device = Device::cuda(0);
  EXPECT_TRUE(is_error(array.write(1, Tensor::of(value.buffer(), elsewhere)), kInvalid, "elements are on the CPU",
                       "a value on cuda:0"));
  EXPECT_TRUE(array.write(1, value).ok());
  TensorArrayOptions both{.element_shape = PartialShape(*Shape::make({1})), .contiguous = true, .any_device = true};
  EXPECT_TRUE(is_error(TensorArray::make(2, DType::Float32, both), kInvalid, "any_device"));
  EXPECT_FALSE(TensorArray::make(2, DType::Float32, {.device = Device::cuda(0), .any_device = true}).ok());
}

TEST(TensorArray, WriteTwiceAndAfterRead) {
  TensorArray a = array(3, {.element_shape = shape({1})});
  const Tensor v = tensor_of({1}, {1});
  ASSERT_TRUE(a.write(0, v).ok());
  EXPECT_THAT(message(a.write(0, v)), HasSubstr("Could not write to index 0 because it has already been written to"));
  ASSERT_TRUE(a.read(0).ok());
  EXPECT_THAT(message(a.write(0, v)), HasSubstr("because it has already been read"));
  EXPECT_THAT(read(a, 1), ElementsAre(0));  // zeros
  EXPECT_THAT(message(a.write(1, v)), HasSubstr("because it has already been read"));
}

TEST(TensorArray, DTypesAndShapesAreEnforced) {
  TensorArray a = array(3, {.element_shape = shape({-1, 2})});
  EXPECT_TRUE(a.write(0, tensor_of<std::int32_t>({1, 2}, {1, 2})).is_about_dtype());
  EXPECT_THAT(message(a.write(0, tensor_of({1, 2}, {2}))), HasSubstr("the value has shape [2]"));
  EXPECT_THAT(message(a.write(0, tensor_of({1, 2, 3}, {1, 3}))), HasSubstr("does not fit the element shape [?,2]"));
  EXPECT_TRUE(a.write(0, tensor_of({1, 2}, {1, 2})).ok());
  EXPECT_TRUE(a.write(1, tensor_of({1, 2, 3, 4}, {2, 2})).ok());

  TensorArray identical = array(3, {.identical_element_shapes = true});
  ASSERT_TRUE(identical.write(0, tensor_of({1, 2}, {2})).ok());
  EXPECT_THAT(message(identical.write(1, tensor_of({1}, {1}))), HasSubstr("does not fit the element shape [2]"));
  TensorArray free = array(3);
  EXPECT_TRUE(free.write(0, tensor_of({1, 2}, {2})).ok());
  EXPECT_TRUE(free.write(1, tensor_of({1}, {})).ok());
}

TEST(TensorArray, ReadOfTheUnwrittenAndTheCleared) {
  TensorArray a = array(2);
  EXPECT_THAT(message(a.read(0)), HasSubstr("element shape is not fully defined: <unknown>"));
  EXPECT_THAT(message(a.read(2)), HasSubstr("Tried to read from index 2, but the array has 2 elements"));
  EXPECT_THAT(message(a.read(-1)), HasSubstr("Tried to read from index -1"));
  ASSERT_TRUE(a.write(0, tensor_of({1}, {1})).ok());
  ASSERT_TRUE(a.read(0).ok());
  EXPECT_THAT(message(a.read(0)),
              HasSubstr("Could not read index 0 twice because it was cleared after a previous read"));
  TensorArray kept = array(1, {.clear_after_read = false});
  ASSERT_TRUE(kept.write(0, tensor_of({1}, {1})).ok());
  EXPECT_TRUE(kept.read(0).ok() && kept.read(0).ok());
}

TEST(TensorArray, GatherStacksInIndexOrder) {
  TensorArray a = array(3, {.clear_after_read = false});
  ASSERT_TRUE(a.unstack(tensor_of({1, 2, 3, 4, 5, 6}, {3, 2})).ok());
  Tensor g = a.gather({2, 0, 2}).value();
  EXPECT_THAT(Ints(g.shape()), ElementsAre(3, 2));
  EXPECT_THAT(elements<float>(g), ElementsAre(5, 6, 1, 2, 5, 6));
  TensorArray clears = array(2);
  ASSERT_TRUE(clears.unstack(tensor_of({1, 2}, {2})).ok());
  EXPECT_THAT(message(clears.gather({0, 0})), HasSubstr("twice"));
  EXPECT_TRUE(clears.gather({0, 1}).ok());  // the refused call changed nothing
}

TEST(TensorArray, GatherOfOtherShapesAndOfNothing) {
  TensorArray a = array(2);
  ASSERT_TRUE(a.write(0, tensor_of({1}, {1})).ok());
  ASSERT_TRUE(a.write(1, tensor_of({1, 2}, {2})).ok());
  EXPECT_THAT(message(a.gather({0, 1})), HasSubstr("index 0 has shape [1], the element at index 1 has shape [2]"));
  EXPECT_EQ(a.gather({}).status().code(), StatusCode::Unimplemented);
  TensorArray b = array(2);
  EXPECT_THAT(Ints(b.gather({}, shape({3})).value().shape()), ElementsAre(0, 3));
  EXPECT_THAT(message(b.gather({0}, shape({4}))), HasSubstr("[4]"));  // [3] was given before, and stays
  EXPECT_THAT(read(b, 0), ElementsAre(0, 0, 0));
}

TEST(TensorArray, ScatterRules) {
  TensorArray a = array(2);
  const Tensor v = tensor_of({1, 2}, {2});
  EXPECT_THAT(message(a.scatter({0, 2}, v)),
              HasSubstr("indices[1] is 2, but the array has 2 elements and a fixed size"));
  EXPECT_THAT(message(a.scatter({0}, v)), HasSubstr("indices has 1 entry"));
  EXPECT_THAT(message(a.scatter({1, 1}, v)), HasSubstr("already been written"));
  EXPECT_THAT(message(a.scatter({0, -1}, v)), HasSubstr("index -1"));
  EXPECT_TRUE(a.scatter({}, tensor_of({}, {0})).ok());
  EXPECT_TRUE(a.scatter({1, 0}, v).ok());  // none of those calls has written anything
  TensorArray dynamic = array(0, {.dynamic_size = true});
  EXPECT_TRUE(dynamic.scatter({4, 1}, v).ok());
  EXPECT_EQ(dynamic.size().value(), 5);
  TensorArray g = array(2).grad("x").value();
  ASSERT_TRUE(g.scatter({1, 1}, v).ok());
  EXPECT_THAT(read(g, 1), ElementsAre(3));
}

TEST(TensorArray, ConcatAndSplit) {
  TensorArray a = array(3);
  ASSERT_TRUE(a.split(tensor_of({1, 2, 3, 4, 5, 6}, {3, 2}), {2, 0, 1}).ok());
  auto c = a.concat().value();
  EXPECT_THAT(elements<float>(c.value), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(c.lengths, ElementsAre(2, 0, 1));

  TensorArray bad = array(2);
  const Tensor v = tensor_of({1, 2, 3}, {3});
  EXPECT_THAT(message(bad.split(v, {1, 1})), HasSubstr("lengths must add up to the rows of value"));
  EXPECT_THAT(message(bad.split(v, {4, -1})), HasSubstr("lengths[1] is -1"));
  EXPECT_FALSE(bad.split(v, {std::numeric_limits<std::int64_t>::max(), 4}).ok());
  EXPECT_THAT(message(bad.split(v, {1, 1, 1})), HasSubstr("lengths has 3 entries, but the array has 2 elements"));
  EXPECT_THAT(message(bad.split(tensor_of({1}, {}), {1})), HasSubstr("value must have rows to split"));
  ASSERT_TRUE(bad.write(0, tensor_of({1}, {})).ok());
  ASSERT_TRUE(bad.write(1, tensor_of({1}, {1})).ok());
  EXPECT_THAT(message(bad.concat()), HasSubstr("is a scalar; stack takes scalars, too"));
  TensorArray uneven = array(2);
  ASSERT_TRUE(uneven.write(0, tensor_of({}, {0, 3})).ok());
  ASSERT_TRUE(uneven.write(1, tensor_of({1, 2}, {1, 2})).ok());
  EXPECT_THAT(message(uneven.concat()), HasSubstr("index 1 has shape [1,2]"));
  EXPECT_EQ(array(0).concat().status().code(), StatusCode::Unimplemented);
  EXPECT_THAT(Ints(array(0).concat(shape({2})).value().value.shape()), ElementsAre(0, 2));
  TensorArray longer = array(3, {.dynamic_size = true});
  EXPECT_FALSE(longer.split(v, {1, 2}).ok());  // does not shrink
  EXPECT_TRUE(longer.split(v, {1, 1, 1, 0}).ok());
  EXPECT_EQ(longer.size().value(), 4);
}

TEST(TensorArray, CloseDropsEverythingButGradients) {
  TensorArray a = array(1);
  const Tensor v = tensor_of({1}, {1});
  const long before = v.buffer().use_count();
  ASSERT_TRUE(a.write(0, v).ok());
  EXPECT_EQ(v.buffer().use_count(), before + 1);
  TensorArray g = a.grad("x").value();
  EXPECT_TRUE(a.close().ok());
  EXPECT_EQ(v.buffer().use_count(), before);
  EXPECT_TRUE(a.close().ok());
  EXPECT_THAT(message(a.size()), HasSubstr("TensorArray steps has already been closed."));
  for (const Status& s : {a.write(0, v), a.scatter({0}, v), a.split(v, {1}), a.read(0).status(), a.stack().status(),
                          a.concat().status(), a.grad("y").status()}) {
    EXPECT_THAT(s.message(), HasSubstr("has already been closed."));
  }
  EXPECT_TRUE(g.write(0, v).ok());
}

TEST(TensorArray, ReadLetsGo) {
  TensorArray a = array(1);
  const Tensor v = tensor_of({1}, {1});
  const long before = v.buffer().use_count();
  ASSERT_TRUE(a.write(0, v).ok());
  {
    const Tensor held = a.read(0).value();
  }
  EXPECT_EQ(v.buffer().use_count(), before);
}

}  // namespace
}  // namespace backslice
