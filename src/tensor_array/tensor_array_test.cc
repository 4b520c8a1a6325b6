// What TensorFlow's TensorArrayV3 operations do, as named tests; tests/oracle plays random programs against the live
// one.
#include "backslice/tensor_array.h"

#include <thread>

#include "backslice/tensor_array_container.h"
#include "memory/tensor_rows.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

TensorArray array(std::int64_t size, TensorArrayOptions options = {}) {
  if (options.name.empty()) options.name = "steps";
  return TensorArray::make(size, DType::Float32, options).value();
}

PartialShape shape(Ints dims) { return PartialShape::make(dims).value(); }

std::vector<float> read(TensorArray& a, std::int64_t index) { return elements<float>(a.read(index).value()); }

template <class AnyResult>
std::string message(const AnyResult& result) {
  if constexpr (std::is_same_v<AnyResult, Status>) {
    return result.message();
  } else {
    return result.status().message();
  }
}

TEST(TensorArray, CreateRefusesNegativeSizes) {
  EXPECT_THAT(message(TensorArray::make(-1, DType::Float32)), HasSubstr("Size should be >= 0."));
  EXPECT_FALSE(TensorArray::make(std::int64_t{1} << 40, DType::Float32).ok());
  EXPECT_TRUE(
      TensorArray::make((std::int64_t{1} << 31) - 1, DType::Float32).ok());  // no slot is made before it is used
}

TEST(TensorArray, WriteThenRead) {
  TensorArray a = array(2);
  ASSERT_TRUE(a.write(1, tensor_of({1, 2}, {2})).ok());
  EXPECT_THAT(read(a, 1), ElementsAre(1, 2));
}

TEST(TensorArray, WriteOutOfRange) {
  TensorArray a = array(2);
  const Tensor v = tensor_of({1}, {1});
  EXPECT_THAT(message(a.write(2, v)),
              HasSubstr("TensorArray steps: Tried to write to index 2 but array is not resizeable and size is: 2"));
  EXPECT_THAT(message(a.write(-1, v)), HasSubstr("Tried to write to index -1"));
  TensorArray dynamic = array(0, {.dynamic_size = true});
  EXPECT_THAT(message(dynamic.write(-1, v)), HasSubstr("Tried to write to index -1 but array is not resizeable"));
  EXPECT_TRUE(dynamic.write((std::int64_t{1} << 31) - 2, v).ok());
  EXPECT_EQ(dynamic.size().value(), (std::int64_t{1} << 31) - 1);
  EXPECT_FALSE(dynamic.write(std::int64_t{1} << 40, v).ok());
}

TEST(TensorArray, WriteTwiceAndAfterRead) {
  TensorArray a = array(3, {.element_shape = shape({1})});
  const Tensor v = tensor_of({1}, {1});
  ASSERT_TRUE(a.write(0, v).ok());
  EXPECT_THAT(message(a.write(0, v)),
              HasSubstr("Could not write to TensorArray index 0 because it has already been written to."));
  ASSERT_TRUE(a.read(0).ok());
  EXPECT_THAT(message(a.write(0, v)), HasSubstr("because it has already been read."));
  EXPECT_THAT(read(a, 1), ElementsAre(0));  // zeros
  EXPECT_THAT(message(a.write(1, v)), HasSubstr("because it has already been read."));
}

TEST(TensorArray, DTypesAndShapesAreEnforced) {
  TensorArray a = array(3, {.element_shape = shape({-1, 2})});
  EXPECT_TRUE(a.write(0, tensor_of<std::int32_t>({1, 2}, {1, 2})).is_about_dtype());
  EXPECT_THAT(message(a.write(0, tensor_of({1, 2}, {2}))), HasSubstr("the value shape is [2]"));
  EXPECT_THAT(message(a.write(0, tensor_of({1, 2, 3}, {1, 3}))), HasSubstr("element shape: [?,2]"));
  EXPECT_TRUE(a.write(0, tensor_of({1, 2}, {1, 2})).ok());
  EXPECT_TRUE(a.write(1, tensor_of({1, 2, 3, 4}, {2, 2})).ok());

  TensorArray identical = array(3, {.identical_element_shapes = true});
  ASSERT_TRUE(identical.write(0, tensor_of({1, 2}, {2})).ok());
  EXPECT_THAT(message(identical.write(1, tensor_of({1}, {1}))), HasSubstr("element shape: [2]"));
  TensorArray free = array(3);
  EXPECT_TRUE(free.write(0, tensor_of({1, 2}, {2})).ok());
  EXPECT_TRUE(free.write(1, tensor_of({1}, {})).ok());
}

TEST(TensorArray, ReadOfTheUnwrittenAndTheCleared) {
  TensorArray a = array(2);
  EXPECT_THAT(message(a.read(0)), HasSubstr("element shape is not fully defined: <unknown>"));
  EXPECT_THAT(message(a.read(2)), HasSubstr("Tried to read from index 2 but array size is: 2"));
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
  EXPECT_THAT(message(a.scatter({0, 2}, v)), HasSubstr("Max scatter index must be < array size (2 vs. 2)"));
  EXPECT_THAT(message(a.scatter({0}, v)), HasSubstr("1 indices"));
  EXPECT_THAT(message(a.scatter({1, 1}, v)), HasSubstr("already been written"));
  EXPECT_THAT(message(a.scatter({0, -1}, v)), HasSubstr("index -1"));
  EXPECT_TRUE(a.scatter({}, tensor_of({}, {0})).ok());
  EXPECT_TRUE(a.scatter({1, 0}, v).ok());  // none of those has written anything
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
  EXPECT_THAT(message(bad.split(v, {1, 1})), HasSubstr("Expected sum of lengths to be equal to values.shape[0]"));
  EXPECT_THAT(message(bad.split(v, {4, -1})), HasSubstr("lengths[1] is -1"));
  EXPECT_FALSE(bad.split(v, {std::numeric_limits<std::int64_t>::max(), 4}).ok());
  EXPECT_THAT(message(bad.split(v, {1, 1, 1})), HasSubstr("(2 vs. 3)"));
  EXPECT_THAT(message(bad.split(tensor_of({1}, {}), {1})), HasSubstr("at least a vector"));
  ASSERT_TRUE(bad.write(0, tensor_of({1}, {})).ok());
  ASSERT_TRUE(bad.write(1, tensor_of({1}, {1})).ok());
  EXPECT_THAT(message(bad.concat()), HasSubstr("Did you mean to call pack?"));
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
  a.close();
  EXPECT_EQ(v.buffer().use_count(), before);
  a.close();
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

TEST(TensorArrayGrad, SourcesAndNames) {
  TensorArray a = array(2);
  TensorArray x = a.grad("x").value(), again = a.grad("x").value(), none = a.grad("").value();
  EXPECT_EQ(x, again);
  EXPECT_FALSE(x == none);
  EXPECT_EQ(x.name(), "steps@x");
  EXPECT_THAT(message(x.grad("y")), HasSubstr("Wrong input container"));
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
              HasSubstr("existing shape is [2] but the new input shape is [1]"));
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

TEST(TensorArray, NeighboursAreViews) {
  TensorArray a = array(4, {.clear_after_read = false});
  const Tensor v = tensor_of({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2});
  ASSERT_TRUE(a.unstack(v).ok());
  EXPECT_EQ(a.stack().value().view().data, v.view().data);
  EXPECT_EQ(a.gather({1, 2}).value().view().data, v.view().data + 8);
  EXPECT_NE(a.gather({2, 1}).value().view().data, v.view().data + 16);
  EXPECT_EQ(a.concat().value().value.view().data, v.view().data);
  EXPECT_EQ(a.read(3).value().view().data, v.view().data + 24);
}

TEST(TensorArray, ContiguousModeStacksWithoutACopy) {
  TensorArray a = array(3, {.element_shape = shape({2}), .contiguous = true});
  ASSERT_TRUE(a.write(2, tensor_of({5, 6}, {2})).ok());
  ASSERT_TRUE(a.write(0, tensor_of({1, 2}, {2})).ok());
  EXPECT_THAT(elements<float>(a.stack().value()), ElementsAre(1, 2, 0, 0, 5, 6));
  EXPECT_THAT(message(a.stack()), HasSubstr("twice"));
  EXPECT_THAT(message(a.write(1, tensor_of({5, 6}, {2}))), HasSubstr("already been read"));
  EXPECT_FALSE(TensorArray::make(3, DType::Float32, {.contiguous = true}).ok());
  const std::vector<std::int64_t> deep(32, 1);  // with the array's own axis one too many
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

TEST(TensorArrayContainer, NamesAndFindsArrays) {
  TensorArrayContainer c, other;
  TensorArray a = c.make(1, DType::Float32, {.name = "steps"}).value(),
              b = c.make(1, DType::Float32, {.name = "steps"}).value();
  EXPECT_THAT(c.names(), ElementsAre("steps_0", "steps_1"));
  EXPECT_EQ(c.find("steps_1"), b);
  EXPECT_FALSE(c.find("steps_0@loss"));
  const TensorArray g = a.grad("loss").value();
  EXPECT_EQ(c.find("steps_0@loss"), g);
  EXPECT_FALSE(other.find("steps_0"));
  EXPECT_TRUE(c.remove("steps_0"));
  EXPECT_FALSE(c.find("steps_0"));
}

// Runs tasks until it is told to run out of memory.
class FailingExecutor final : public Executor {
 public:
  int concurrency() const override { return 2; }
  void run(std::int64_t count, const std::function<void(std::int64_t)>& task) override {
    if (fails) {
      task(0);
      throw std::bad_alloc();
    }
    for (std::int64_t i = 0; i < count; ++i) task(i);
  }
  bool fails = false;
};

constexpr std::int64_t kLarge = 1 << 20;  // floats: worth several threads

Tensor large(float value) { return tensor_of(std::vector<float>(kLarge, value), {kLarge}); }

// An element without elements may have no memory; its neighbours' memory is not looked for there.
TEST(TensorArray, ConcatAfterAnElementWithoutMemory) {
  TensorArray array = TensorArray::make(2, DType::Float32).value();
  const Tensor nothing = Tensor::of(Buffer(), View::contiguous(nullptr, DType::Float32, {0}).value());
  ASSERT_TRUE(array.write(0, nothing).ok() && array.write(1, tensor_of<float>({1, 2}, {2})).ok());
  EXPECT_THAT(elements<float>(array.concat().value().value), ElementsAre(1, 2));
}

// What a slot no longer holds is let go of when no lock is held: its owner may use the array.
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
  EXPECT_EQ(g.read(0).value().elements<float>()[0], TensorArray::kMaxTerms + 1);
}

TEST(TensorArray, SumsOfItemsWithoutBytesTakeNoTime) {
  TensorArray g = TensorArray::make(1, DType::Bytes, {.item_size = 0}).value();
  const Shape shape = *Shape::make({std::int64_t{1} << 60});
  ASSERT_TRUE(g.write(0, Tensor::make(DType::Bytes, shape, 0).value()).ok());
  EXPECT_TRUE(g.concat().ok());
}

TEST(TensorArray, AFailedSumLeavesTheTerms) {
  FailingExecutor executor;
  const Context context{.executor = &executor};
  TensorArray g = TensorArray::make(2, DType::Float32).value().grad("x").value();
  for (std::size_t i = 0; i < TensorArray::kMaxTerms; ++i) ASSERT_TRUE(g.write(0, large(1), context).ok());
  executor.fails = true;
  EXPECT_TRUE(is_error(g.write(0, large(1), context), StatusCode::ResourceExhausted));
  const Tensor two_rows = tensor_of(std::vector<float>(2 * kLarge, 5), {2, kLarge});
  EXPECT_TRUE(is_error(g.scatter(std::vector<std::int64_t>{1, 0}, two_rows, context), StatusCode::ResourceExhausted));
  EXPECT_TRUE(is_error(g.read(0, context), StatusCode::ResourceExhausted));
  executor.fails = false;
  EXPECT_TRUE(g.write(1, large(3), context).ok());
  EXPECT_EQ(g.read(0, context).value().elements<float>()[0], 8);
  EXPECT_EQ(g.read(1, context).value().elements<float>()[0], 3);
}

TEST(TensorArray, AFailedWriteToABlockLeavesZeros) {
  FailingExecutor executor;
  const Context context{.executor = &executor};
  const TensorArrayOptions options{.element_shape = *Shape::make({kLarge}), .contiguous = true};
  TensorArray array = TensorArray::make(2, DType::Float32, options).value();
  // With gaps, so that copying it is more than one task.
  Tensor memory = tensor_of(std::vector<float>(4 * kLarge, 5), {2, 2 * kLarge});
  const View gaps = View::strided(memory.view().data, DType::Float32, {2, kLarge}, {8 * kLarge, 8}).value();
  const Tensor rows = Tensor::of(memory.buffer(), gaps);
  executor.fails = true;
  EXPECT_TRUE(is_error(array.write(0, row_of(rows, 1), context), StatusCode::ResourceExhausted));
  EXPECT_TRUE(is_error(array.unstack(rows, context), StatusCode::ResourceExhausted));
  executor.fails = false;
  ASSERT_TRUE(array.write(1, large(2), context).ok());
  Tensor all = array.stack().value();
  const auto values = all.elements<float>();
  EXPECT_EQ(std::count(values.begin(), values.end(), 0), kLarge);
  EXPECT_EQ(std::count(values.begin(), values.end(), 2), kLarge);
}

TEST(TensorArray, AFailedWriteDoesNotGrowTheArrayOrFixItsShape) {
  TensorArray array =
      TensorArray::make(1, DType::Float32, {.dynamic_size = true, .identical_element_shapes = true}).value();
  const std::vector<std::int64_t> indices = {5, 5};
  EXPECT_TRUE(is_error(array.scatter(indices, tensor_of(counting<float>(4), {2, 2})), kInvalid, "already"));
  EXPECT_EQ(array.size().value(), 1);
  EXPECT_FALSE(array.element_shape().has_rank());
}

TEST(TensorArray, ManyWritesToOneIndexOfAGradientAddUpInOrder) {
  TensorArray g = TensorArray::make(3, DType::Float32).value().grad("x").value();
  std::vector<std::int64_t> indices;
  for (int i = 0; i < 40; ++i) indices.push_back(i % 3);
  ASSERT_TRUE(g.scatter(indices, tensor_of(counting<float>(40), {40})).ok());
  for (int index = 0; index < 3; ++index) {
    float expected = 0;
    for (int i = index; i < 40; i += 3) expected += static_cast<float>(i + 1);
    EXPECT_EQ(g.read(index).value().elements<float>()[0], expected);
  }
}

TEST(TensorArray, OfNoElementsTheArraysShapeWillDo) {
  const auto array = [](Ints dims) {
    return TensorArray::make(0, DType::Float32, {.element_shape = *PartialShape::make(dims)}).value();
  };
  EXPECT_THAT(Ints(array({3, 5}).concat().value().value.shape()), ElementsAre(0, 5));
  EXPECT_THAT(Ints(array({-1, 5}).concat().value().value.shape()), ElementsAre(0, 5));
  EXPECT_THAT(Ints(array({-1, -1}).concat(*PartialShape::make({7})).value().value.shape()), ElementsAre(0, 7));
  EXPECT_THAT(Ints(array({3, 5}).gather({}).value().shape()), ElementsAre(0, 3, 5));
  EXPECT_TRUE(is_error(array({}).concat(), kInvalid, "at least vectors"));
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
  for (const TensorArray& array : all) EXPECT_EQ(c.find(array.name()), array) << array.name();
  EXPECT_EQ(c.names().size(), 300u);
}

}  // namespace
}  // namespace backslice
