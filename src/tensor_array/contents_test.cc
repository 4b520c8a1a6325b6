// The contents of a TensorArray as a value, and arrays made from it.
#include "tensor_arrays.h"

namespace backslice {
namespace {

using namespace testing;

TensorArray copy_of(const TensorArray& a) { return TensorArray::restore(a.contents().value()).value(); }

TEST(TensorArrayContents, AreNotReadWhenTheyAreTaken) {
  TensorArray a = array(2);
  ASSERT_TRUE(a.write(1, tensor_of({1, 2}, {2})).ok());
  TensorArray b = copy_of(a);
  EXPECT_THAT(read(b, 1), ElementsAre(1, 2));
  EXPECT_THAT(read(a, 1), ElementsAre(1, 2));
  EXPECT_THAT(message(copy_of(b).read(1)), HasSubstr("cleared after a previous read"));
  EXPECT_FALSE(a == b);
}

TEST(TensorArrayContents, KeepWhatWasReadAndLeftUnwritten) {
  TensorArray a = array(3, {.element_shape = shape({1}), .clear_after_read = false});
  ASSERT_TRUE(a.write(0, tensor_of({7}, {1})).ok());
  EXPECT_THAT(read(a, 0), ElementsAre(7));
  EXPECT_THAT(read(a, 1), ElementsAre(0));
  TensorArray b = copy_of(a);
  for (const std::int64_t i : {0, 1}) {
    EXPECT_THAT(message(b.write(i, tensor_of({1}, {1}))), HasSubstr("has already been read")) << i;
  }
  EXPECT_TRUE(b.write(2, tensor_of({1}, {1})).ok());
}

TEST(TensorArrayContents, HaveTheSumsOfGradients) {
  TensorArray a = array(2);
  ASSERT_TRUE(a.write(0, tensor_of({1}, {1})).ok());
  ASSERT_TRUE(a.write(1, tensor_of({1}, {1})).ok());
  TensorArray gradient = a.grad("loss").value();
  ASSERT_TRUE(gradient.write(0, tensor_of({2}, {1})).ok());
  ASSERT_TRUE(gradient.write(0, tensor_of({3}, {1})).ok());
  TensorArray again = copy_of(gradient);
  EXPECT_TRUE(again.is_gradient());
  ASSERT_TRUE(again.write(0, tensor_of({4}, {1})).ok());
  EXPECT_THAT(read(again, 0), ElementsAre(9));
  EXPECT_THAT(read(again, 1), ElementsAre(0));
  EXPECT_THAT(read(gradient, 0), ElementsAre(5));
}

TEST(TensorArrayContents, OfABlockShareNoneOfIt) {
  TensorArray a = array(2, {.element_shape = shape({1}), .contiguous = true});
  ASSERT_TRUE(a.write(0, tensor_of({7}, {1})).ok());
  TensorArray b = copy_of(a);
  ASSERT_TRUE(b.write(1, tensor_of({8}, {1})).ok());
  EXPECT_THAT(elements<float>(b.stack().value()), ElementsAre(7, 8));
  EXPECT_THAT(elements<float>(a.stack().value()), ElementsAre(7, 0));
  TensorArray c = copy_of(a);
  EXPECT_THAT(message(c.stack()), HasSubstr("cleared"));
}

TEST(TensorArrayContents, ThatDoNotFitAreRefused) {
  TensorArray a = array(1);
  ASSERT_TRUE(a.write(0, tensor_of({1, 2}, {2})).ok());
  TensorArrayContents contents = a.contents().value();
  contents.elements[0].shape = *Shape::make({1 << 20});
  TensorArray b = TensorArray::restore(contents).value();
  EXPECT_THAT(read(b, 0), ElementsAre(1, 2)) << "the value's own shape counts";
  for (const std::int64_t index : {-1, 1}) {
    contents.elements[0].index = index;
    EXPECT_TRUE(is_error(TensorArray::restore(contents), kInvalid, std::to_string(index), "its size is 1"));
  }
  contents.elements[0] = {0, *Shape::make({1}), tensor_of<double>({1}, {1}), true, false, false};
  EXPECT_FALSE(TensorArray::restore(contents).ok());
  ASSERT_TRUE(a.close().ok());
  EXPECT_TRUE(is_error(a.contents(), kInvalid, "closed"));
}

}  // namespace
}  // namespace backslice
