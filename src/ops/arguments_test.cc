// Errors about one argument name it, by Status::argument() and position(); and the orders of arguments that are
// deprecated still work.
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

struct Blame {
  Status status;
  const char* argument;
  std::optional<std::int64_t> position = {};
};

void expect_blamed(const std::vector<Blame>& all) {
  for (const Blame& blame : all) {
    EXPECT_FALSE(blame.status.ok()) << blame.argument;
    EXPECT_EQ(blame.status.argument(), blame.argument) << blame.status;
    EXPECT_EQ(blame.status.position(), blame.position) << blame.status;
  }
}

TEST(Arguments, OfDenseOperationsAreNamedInErrors) {
  const auto data = counting<float>(12);
  std::vector<float> memory(12);
  std::vector<double> doubles(12);
  const Selection s = at({3, 4}, "1:, ::2");
  const ConstView dy = view_of(data, {2, 2}), matrix = view_of(data, {3, 4});
  const View dx = view_of(memory, {3, 4});
  const ConstView missing{nullptr, DType::Float32, dy.layout};
  const ConstView crooked{dy.data, DType::Float32, {dy.layout.shape, Dims(Ints{4}), 4}};
  const View itself = View::strided(memory.data(), {3, 4}, {0, 1}).value();
  View own = view_of(memory, {2, 2});
  const SliceGradient good{s, dy}, wrong_dy{s, matrix}, wrong_selection{at({4}, ":"), dy};
  const SliceGradient other_dtype{s, view_of(doubles, {2, 2})};
  const SliceGradient slices[] = {good, wrong_dy}, others[] = {good, wrong_selection}, mixed[] = {good, other_dtype};
  expect_blamed({
      {slice(s, dy).status(), "x", 0},
      {slice_grad(s, view_of(data, {2, 3})).status(), "dy", 1},
      {slice_grad(s, view_of(data, {4})).status(), "dy"},
      {slice_grad(s, missing).status(), "dy"},
      {slice_grad(s, crooked).status(), "dy"},
      {slice_grad_into(s, dy, view_of(memory, {3, 3})), "out", 1},
      {slice_grad_into(s, dy, view_of(doubles, {3, 4})), "out"},
      {slice_grad_into(s, dy, itself), "out"},
      {slice_into(s, ConstView(dx), own), "out"},
      {strided_slice_grad({3, -4}, {}, dy).status(), "shape", 1},
      {strided_slice_grad({4}, {.begin = {0}, .end = {2}, .strides = {0}}, dy).status(), "strides", 0},
      {onnx_slice_grad(matrix, {4}, {.starts = {0}, .ends = {2}}).status(), "grad"},
      {multi_slice_grad({3, 4}, slices).status(), "slices", 1},
      {multi_slice_grad({3, 4}, others).status(), "slices", 1},
      {multi_slice_grad({3, 4}, mixed).status(), "slices", 1},
      {multi_slice_grad({3, 4}, {}).status(), "slices"},
      {broadcast(Shape(), dy, "weights").status(), "weights"},
      {View::of(memory, {5}).status(), "shape"},
      {View::strided(memory.data(), {4}, {1, 2}).status(), "strides"},
      {View::strided(static_cast<void*>(memory.data()), DType::Float32, {4}, {1, 2}).status(), "byte_strides"},
      {View::contiguous(memory.data(), DType::Float32, {4}, 5).status(), "item_size"},
      {set_num_threads(0), "threads"},
  });
}

TEST(Arguments, OfContainersAreNamedInErrors) {
  const auto data = counting<float>(12);
  const Tensor values = tensor_of(data, {12}), scalar = tensor_of<float>({1}, {});
  const auto splits = [](const std::vector<std::int64_t>& list) { return tensor_of(list, {std::ssize(list)}); };
  const RaggedTensor rt = RaggedTensor::make(values, {splits({0, 12})}).value();
  TensorArray array = TensorArray::make(2, DType::Float32).value();
  ASSERT_TRUE(array.write(0, scalar).ok());
  const std::vector<std::int64_t> rows = {0, 1, 2};
  const CooIndices list = CooIndices::from_matrix(view_of(rows, {3, 1})).value();
  const ConstView three = view_of(data, {3}), two = view_of(data, {2});
  expect_blamed({
      {RaggedTensor::make(values, {splits({0, 5, 3, 12})}).status(), "nested_row_splits", 0},
      {RaggedTensor::make(values, {splits({0, 1}), splits({1, 12})}).status(), "nested_row_splits", 1},
      {RaggedTensor::make(values, {splits({0, 11})}).status(), "nested_row_splits", 0},
      {RaggedTensor::make(values, {values}).status(), "nested_row_splits", 0},
      {RaggedTensor::make(scalar, {splits({0, 1})}).status(), "values"},
      {RaggedTensor::from_row_lengths(values, {splits({13, -1})}).status(), "nested_row_lengths", 0},
      {ragged_slice_grad(at({1}, ":"), rt, view_of(data, {11})).status(), "dy", 0},
      {ragged_tensor_to_variant_gradient(ragged_tensor_to_variant(rt).value(), {splits({0, 3, 1})}, {12}).status(),
       "row_splits", 0},
      {array.write(2, scalar), "index"},
      {array.write(-1, scalar), "index"},
      {array.write(0, scalar), "index"},
      {array.read(5).status(), "index"},
      {array.write(1, tensor_of<double>({1}, {})), "value"},
      {array.split(values, {12}), "lengths"},
      {array.split(values, {13, -1}), "lengths", 1},
      {array.scatter({0, 7}, tensor_of<float>({1, 2}, {2})), "indices", 1},
      {TensorArray::make(-1, DType::Float32).status(), "size"},
      {sparse_slice(list, two, {3}, {0}, {1}).status(), "values"},
      {sparse_slice(list, three, {3}, {0, 0}, {1}).status(), "start"},
      {sparse_slice(list, three, {3}, {0}, {-1}).status(), "size", 0},
      {sparse_slice_grad(two, list, {0}, list).status(), "backprop_val_grad"},
      {sparse_slice_grad_by_size(view_of(data, {4}), list, {0}, {1}).status(), "grad"},
  });
}

TEST(Arguments, AreCountedInTheSingularToo) {
  float data[1];
  EXPECT_TRUE(is_error(View::strided(data, {1, 1}, {1}), kInvalid, "strides [1] has 1 entry, shape [1,1] has 2"));
  EXPECT_TRUE(is_error(ConstView::of(data, {2}), kInvalid, "the memory has 1 element, but"));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

TEST(Arguments, InTheOrderBefore03StillWork) {
  std::vector<float> data = counting<float>(4);
  EXPECT_THAT(Ints(View::strided(data.data(), DType::Float32, {2}, {8}).value().layout.strides), ElementsAre(8));
  EXPECT_EQ(broadcast(view_of(data, {4}), Shape::make({3, 4}).value()).value().shape(), Shape::make({3, 4}).value());
  const RaggedTensor rt = RaggedTensor::make(tensor_of(data, {4}), {tensor_of<std::int64_t>({0, 1, 4}, {3})}).value();
  const Selection last = at({2}, "1:");
  EXPECT_THAT(elements<float>(ragged_slice(rt, last).value().values()), ElementsAre(2, 3, 4));
  EXPECT_THAT(elements<float>(ragged_slice(rt, {std::int64_t{1}}).value().values()), ElementsAre(2, 3, 4));
  EXPECT_EQ(ragged_slice_size(rt, Index{std::int64_t{1}}).value().values.elements(), 3);
  std::vector<std::int64_t> splits(2);
  std::vector<float> values(3);
  EXPECT_TRUE(ragged_slice_into(rt, last, {{view_of(splits, {2})}, view_of(values, {3})}).ok());
  EXPECT_THAT(values, ElementsAre(2, 3, 4));
  EXPECT_THAT(elements<float>(ragged_slice_grad(rt, last, view_of(values, {3})).value()), ElementsAre(0, 2, 3, 4));
  EXPECT_TRUE(ragged_slice_grad_into(rt, last, view_of(values, {3}), view_of(data, {4}), Write::Accumulate).ok());
  EXPECT_THAT(data, ElementsAre(1, 4, 6, 8));
}

#pragma GCC diagnostic pop

}  // namespace
}  // namespace backslice
