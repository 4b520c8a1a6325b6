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
    EXPECT_FALSE(blame.status.ok()) << blame.argument << " " << (&blame - all.data());
    EXPECT_EQ(blame.status.argument(), blame.argument) << blame.status;
    EXPECT_EQ(blame.status.position(), blame.position) << blame.status;
  }
}

// tests/repository/test_arguments.py reads these lists: the names are those of the headers, and no function is missing.

TEST(Arguments, OfDenseOperationsAreNamedInErrors) {
  const auto data = counting<float>(12);
  std::vector<float> memory(12);
  std::vector<double> doubles(12);
  const Selection s = at({3, 4}, "1:, ::2");
  const ConstView dy = view_of(data, {2, 2}), matrix = view_of(data, {3, 4});
  const View dx = view_of(memory, {3, 4});
  const ConstView missing{nullptr, DType::Float32, dy.layout}, missing_matrix{nullptr, DType::Float32, matrix.layout};
  const ConstView crooked{dy.data, DType::Float32, {dy.layout.shape, Dims(Ints{4}), 4}};
  const ConstView bytes{dy.data, DType::Float8E8M0FNU, contiguous_layout(Shape::make({2, 2}).value(), 1)};
  const View itself = View::strided(memory.data(), {3, 4}, {0, 1}).value();
  View own = view_of(memory, {2, 2});
  const SliceGradient good{s, dy}, wrong_dy{s, matrix}, wrong_selection{at({4}, ":"), dy};
  const SliceGradient other_dtype{s, view_of(doubles, {2, 2})};
  const SliceGradient slices[] = {good, wrong_dy}, others[] = {good, wrong_selection}, mixed[] = {good, other_dtype};
  const SliceGradient boolean{s, {dy.data, DType::Bool, contiguous_layout(dy.shape(), 1)}},
      bools[] = {boolean, boolean};
  const SliceGradient one[] = {good};
  expect_blamed({
      {slice(s, dy).status(), "x", 0},
      {slice(s, missing_matrix).status(), "x"},
      {slice_into(s, dy, own), "x", 0},
      {slice_into(s, ConstView(dx), own), "out"},
      {slice_grad(s, view_of(data, {2, 3})).status(), "dy", 1},
      {slice_grad(s, view_of(data, {4})).status(), "dy"},
      {slice_grad(s, missing).status(), "dy"},
      {slice_grad(s, crooked).status(), "dy"},
      {slice_grad(s, bytes).status(), "dy"},
      {slice_grad_into(s, dy, view_of(memory, {3, 3})), "out", 1},
      {slice_grad_into(s, dy, view_of(doubles, {3, 4})), "out"},
      {slice_grad_into(s, dy, itself), "out"},
      {strided_slice(missing_matrix, {}).status(), "input"},
      {strided_slice(matrix, {.begin = {0}}).status(), "end"},
      {strided_slice_into(missing_matrix, {}, dx), "input"},
      {strided_slice_into(matrix, {}, own), "out", 0},
      {strided_slice_grad({3, -4}, {}, dy).status(), "shape", 1},
      {strided_slice_grad({4}, {.begin = {0}, .end = {2}, .strides = {0}}, dy).status(), "strides", 0},
      {strided_slice_grad_into({4}, {.ellipsis_mask = 3}, dy, dx), "ellipsis_mask"},
      {onnx_slice(missing_matrix, {}).status(), "data"},
      {onnx_slice(view_of(data, {}), {}).status(), "data"},
      {onnx_slice(view_of(data, {3}), {.starts = {0, 0}, .ends = {1, 1}}).status(), "starts", 1},
      {onnx_slice_into(missing_matrix, {}, dx), "data"},
      {onnx_slice_into(matrix, {.starts = {0}, .ends = {1}, .axes = {{2}}}, dx), "axes", 0},
      {onnx_slice_grad(matrix, {4}, {.starts = {0}, .ends = {2}}).status(), "grad"},
      {onnx_slice_grad(s, bytes).status(), "grad"},
      {onnx_slice_grad(s, missing).status(), "grad"},
      {onnx_slice_grad_into(dy, {3, 4}, {.starts = {0}, .ends = {2}, .steps = {{0}}}, dx), "steps", 0},
      {onnx_slice_grad_into(s, bytes, {dx.data, bytes.dtype, contiguous_layout(dx.shape(), 1)}), "grad"},
      {multi_slice_grad({3, 4}, slices).status(), "slices", 1},
      {multi_slice_grad({3, 4}, others).status(), "slices", 1},
      {multi_slice_grad({3, 4}, mixed).status(), "slices", 1},
      {multi_slice_grad({3, 4}, bools).status(), "slices"},
      {multi_slice_grad({3, 4}, {}).status(), "slices"},
      {multi_slice_grad({-3, 4}, one).status(), "shape", 0},
      {multi_slice_grad_into({3, 4}, one, own), "out", 0},
      {multi_slice_grad_into({3, 4}, slices, dx), "slices", 1},
      {multi_slice_write({3, 4}, slices).status(), "slices", 1},
      {multi_slice_write({3, 4}, {}).status(), "slices"},
      {multi_slice_write_into({3, 4}, one, own), "out", 0},
      {multi_slice_grad_scratch(-1, 2).status(), "slices"},
      {multi_slice_grad_scratch(1, 99).status(), "rank"},
      {slice_grad_cost(s, DType::Bytes, -1).status(), "item_size"},
      {slice_grad_cost(s, DType::Float8E8M0FNU).status(), "dtype"},
      {set_num_threads(0), "threads"},
      {set_pool_limit(-1), "bytes"},
  });
}

TEST(Arguments, OfPreparedSlicesAndBuffersAreNamedInErrors) {
  const auto data = counting<float>(12);
  std::vector<float> memory(12);
  const Selection s = at({3, 4}, "1:, ::2");
  const ConstView dy = view_of(data, {2, 2}), matrix = view_of(data, {3, 4});
  const View dx = view_of(memory, {3, 4}), y = view_of(memory, {2, 2});
  const Layout x_layout = matrix.layout, y_layout = dy.layout;
  const PreparedSlice prepared = PreparedSlice::make(s, DType::Float32).value();
  GradBuffer buffer = GradBuffer::make(DType::Float32, {3, 4}).value();
  const ConstView booleans{dy.data, DType::Bool, contiguous_layout(dy.shape(), 1)};
  expect_blamed({
      {PreparedSlice::make(s, DType::Float32, 5).status(), "item_size"},
      {PreparedSlice::make(s, DType::Float32, y_layout, y_layout).status(), "x", 0},
      {PreparedSlice::make(s, DType::Float32, x_layout, x_layout).status(), "y", 0},
      {prepared.forward(dy, y), "x"},
      {prepared.forward(matrix, dx), "out"},
      {prepared.gradient(matrix, dx), "dy"},
      {prepared.gradient(dy, y), "out"},
      {prepared.accumulate(matrix, dx), "dy"},
      {GradBuffer::make(DType::Float32, {2, -1}).status(), "shape", 1},
      {GradBuffer::make(DType::Float8E8M0FNU, {2}).status(), "dtype"},
      {GradBuffer::make(DType::Float32, {2}, 3).status(), "item_size"},
      {buffer.write(at({4}, ":"), dy), "selection"},
      {buffer.write(s, matrix), "dy", 0},
      {buffer.write(s, booleans), "dy"},
      {buffer.add(at({4}, ":"), dy), "selection"},
      {buffer.add(s, select(s, buffer.view())), "dy"},
  });
}

TEST(Arguments, OfSelectionsAndViewsAreNamedInErrors) {
  const auto data = counting<float>(12);
  std::vector<float> memory(12);
  const Selection s = at({3, 4}, "1:, ::2");
  const Selection::Axis axes[] = {{0, 1, 2}};
  const Range box[] = {{0, 9}, {0, 1}};
  const std::vector<int> many(40, 1);
  const std::vector<std::uint64_t> huge = {1, std::uint64_t{1} << 63};
  const PartialShape partial = PartialShape::make({2, -1}).value();
  const IndexText read = parse_index_text("1, 9").value();
  const Index one_too_many = {std::int64_t{0}, std::int64_t{0}};
  const std::int64_t big = std::int64_t{1} << 40;
  expect_blamed({
      {Selection::all({2, -3}).status(), "shape", 1},
      {Selection::make({-3}, axes, {0}).status(), "shape", 0},
      {Selection::make({3, 4}, axes, {0}).status(), "axes"},
      {Selection::make({1}, axes, {0}).status(), "axes", 0},
      {Selection::make({3}, axes, {}).status(), "axes", 0},
      {Selection::make({3}, axes, {7}).status(), "result_axes"},
      {Selection::from_tf({4}, {.begin = {9}, .end = {1}, .strides = {1}, .shrink_axis_mask = 1}).status(), "begin", 0},
      {Selection::from_onnx({4}, {.starts = {0}}).status(), "ends"},
      {Selection::from_index({4}, Index{std::int64_t{9}}).status(), "index", 0},
      {Selection::from_index({4}, one_too_many).status(), "index", 1},
      {Selection::from_index({4}, Index{EllipsisItem{}, EllipsisItem{}}).status(), "index", 1},
      {Selection::from_index({4}, repeated(33, NewAxis{})).status(), "index"},
      {Selection::from_index_text({4, 4}, read).status(), "index", 1},
      {Selection::from_begin_size({4}, {5}, {0}).status(), "begin", 0},
      {Selection::from_begin_size({4}, {0}, {5}).status(), "size", 0},
      {Selection::from_begin_size({4}, {}, {0}).status(), "begin"},
      {Selection::from_begin_size({4}, {0}, {}).status(), "size"},
      {s.restrict(box).status(), "box", 0},
      {parse_index("a").status(), "index", 0},
      {parse_index_text("1, b").status(), "index", 1},
      {Shape::make({big, big}).status(), "shape", 1},
      {Shape::make(many).status(), "shape", 32},
      {Shape::make(huge).status(), "shape", 1},
      {Dims::make(huge).status(), "strides", 1},
      {Dims::make(many).status(), "strides", 32},
      {PartialShape::make({-2}).status(), "shape", 0},
      {partial.prepended(Shape::make(std::vector<int>(31, 1)).value()).status(), "first"},
      {broadcast({4, 3}, view_of(data, {2})).status(), "view"},
      {broadcast({-4}, view_of(data, {2})).status(), "shape", 0},
      {View::of(memory, {5}).status(), "shape"},
      {View::contiguous(memory.data(), {-1}).status(), "shape", 0},
      {View::contiguous(memory.data(), DType::Float32, {4}, 5).status(), "item_size"},
      {View::strided(memory.data(), {4}, {1, 2}).status(), "strides"},
      {View::strided(static_cast<void*>(memory.data()), DType::Float32, {4}, {1, 2}).status(), "byte_strides"},
      {make_contiguous_layout(DType::Bytes, {4}, -1).status(), "item_size"},
      {make_strided_layout(DType::Float32, {4}, {1, 2}).status(), "byte_strides"},
      {Tensor::make(DType::Float32, {4, -1}).status(), "shape", 1},
      {Tensor::zeros(DType::Float32, {-1}).status(), "shape", 0},
      {Tensor::copy_of(memory, {5}).status(), "shape"},
  });
}

TEST(Arguments, OfSparseTensorsAreNamedInErrors) {
  const auto data = counting<float>(12);
  std::vector<float> memory(12);
  const std::vector<std::int64_t> rows = {0, 1, 2};
  std::vector<std::int64_t> indices(3);
  const CooIndices list = CooIndices::from_matrix(view_of(rows, {3, 1})).value();
  const CooIndices two_rows = CooIndices::from_matrix(view_of(rows, {2, 1})).value();
  const ConstView three = view_of(data, {3}), two = view_of(data, {2}), scalar = view_of(data, {});
  const View out = view_of(memory, {3}), out_indices = view_of(indices, {3, 1});
  const ConstView booleans{three.data, DType::Bool, contiguous_layout(two.shape(), 1)};
  const View out_booleans{out.data, DType::Bool, contiguous_layout(out.shape(), 1)};
  expect_blamed({
      {sparse_slice(list, two, {3}, {0}, {1}).status(), "values"},
      {sparse_slice(list, three, {3, 3}, {0}, {1}).status(), "indices"},
      {sparse_slice(list, three, {3}, {0, 0}, {1}).status(), "start"},
      {sparse_slice(list, three, {3}, {0}, {-1}).status(), "size", 0},
      {sparse_slice_count(list, {0}, {}).status(), "size"},
      {sparse_slice_into(list, three, {3}, {0}, {3}, out_indices, view_of(memory, {2})).status(), "out_values", 0},
      {sparse_slice_into(list, three, {3}, {0}, {3}, view_of(indices, {3}), out).status(), "out_indices"},
      {sparse_slice_grad(two, list, {0}, list).status(), "backprop_val_grad"},
      {sparse_slice_grad(three, two_rows, {0}, list).status(), "output_indices"},
      {sparse_slice_grad(three, list, {}, list).status(), "input_start"},
      {sparse_slice_grad_into(scalar, list, {0}, list, out), "backprop_val_grad"},
      {sparse_slice_grad_into(booleans, list, {0}, two_rows, out_booleans, MatchOrder::Any, Write::Accumulate),
       "backprop_val_grad"},
      {sparse_slice_grad_by_size(view_of(data, {4}), list, {0}, {1}).status(), "grad"},
      {sparse_slice_grad_by_size(two, list, {0}, {1}).status(), "grad"},
      {sparse_slice_grad_by_size_into(booleans, list, {0}, {2}, out_booleans, Write::Accumulate), "grad"},
      {sparse_slice_grad_by_size_into(two, list, {0, 1}, {2}, out), "start"},
      {CooIndices::from_matrix(three).status(), "indices"},
      {CooIndices::from_columns(std::span(&three, 1)).status(), "indices", 0},
  });
}

TEST(Arguments, OfRaggedTensorsAreNamedInErrors) {
  const auto data = counting<float>(12);
  std::vector<float> memory(12);
  std::vector<std::int64_t> split_memory(8);
  const Tensor values = tensor_of(data, {12}), scalar = tensor_of<float>({1}, {});
  const auto splits = [](const std::vector<std::int64_t>& list) { return tensor_of(list, {std::ssize(list)}); };
  const RaggedTensor rt = RaggedTensor::make(values, {splits({0, 5, 12})}).value();
  const RaggedTensor number = RaggedTensor::make(scalar, {}).value();
  const Selection rows = at({2}, "1:"), other = at({3}, "1:");
  const Index nine = {std::int64_t{9}}, deep = {EllipsisItem{}, SliceRange{}, SliceRange{}, SliceRange{}};
  const Index inner = {EllipsisItem{}, std::int64_t{3}}, two_ellipses = {EllipsisItem{}, EllipsisItem{}};
  const ConstView dy = view_of(data, {7}), eleven = view_of(data, {11});
  const View out = view_of(memory, {12}), seven = view_of(memory, {7});
  const View two_splits = view_of(split_memory, {2}), three_splits = view_of(split_memory, {3});
  const VariantArray encoded = ragged_tensor_to_variant(rt).value();
  const VariantArray missing = VariantArray::make({rt, std::nullopt}, {2}).value();
  const ConstView float_view = ConstView::of(data, {12}).value();
  expect_blamed({
      {RaggedTensor::make(values, {splits({0, 5, 3, 12})}).status(), "nested_row_splits", 0},
      {RaggedTensor::make(values, {splits({0, 1}), splits({1, 12})}).status(), "nested_row_splits", 1},
      {RaggedTensor::make(values, {splits({0, 11})}).status(), "nested_row_splits", 0},
      {RaggedTensor::make(values, {values}).status(), "nested_row_splits", 0},
      {RaggedTensor::make(scalar, {splits({0, 1})}).status(), "values"},
      {RaggedTensor::make(float_view, nullptr, {float_view}).status(), "nested_row_splits", 0},
      {RaggedTensor::from_row_lengths(values, {splits({13, -1})}).status(), "nested_row_lengths", 0},
      {RaggedTensor::from_row_lengths(values, {splits({11})}).status(), "nested_row_lengths", 0},
      {rt.slice_rows(-1, 1).status(), "lo"},
      {rt.slice_rows(0, 3).status(), "hi"},
      {rt.row(9).status(), "i"},
      {ragged_slice(nine, rt).status(), "index", 0},
      {ragged_slice(inner, rt).status(), "index", 1},
      {ragged_slice(deep, rt).status(), "index", 3},
      {ragged_slice(two_ellipses, rt).status(), "index", 1},
      {ragged_slice(other, rt).status(), "rows"},
      {ragged_slice(rows, number).status(), "rt"},
      {ragged_slice_size(nine, rt).status(), "index", 0},
      {ragged_slice_size(other, rt).status(), "rows"},
      {ragged_slice_into(rows, rt, {{}, seven}), "out.splits"},
      {ragged_slice_into(rows, rt, {{two_splits}, out}), "out.values", 0},
      {ragged_slice_into(rows, rt, {{three_splits}, seven}), "out.splits", 0},
      {ragged_slice_grad(rows, rt, eleven).status(), "dy", 0},
      {ragged_slice_grad(other, rt, dy).status(), "rows"},
      {ragged_slice_grad_into(rows, rt, dy, seven), "out", 0},
      {VariantArray::make({rt}, {2}).status(), "shape"},
      {encoded.reshape({3}).status(), "shape"},
      {encoded.at(7).status(), "i"},
      {encoded.element_size(7).status(), "i"},
      {missing.element_size(1).status(), "i"},
      {encoded.element_into(-1, {{}, seven}), "i"},
      {encoded.element_into(1, {{}, out}), "out.values", 0},
      {ragged_tensor_to_variant(number).status(), "rt"},
      {ragged_tensor_from_variant(encoded, -2, 1).status(), "input_ragged_rank"},
      {ragged_tensor_from_variant(encoded, 0, -1).status(), "output_ragged_rank"},
      {ragged_tensor_from_variant(missing, 1, 2).status(), "encoded", 1},
      {ragged_tensor_from_variant(encoded, 0, 1, {.splits = DType::Float32}).status(), "types.splits"},
      {ragged_tensor_from_variant(encoded, 0, 1, {.values = ValuesType(DType::Bytes, -1)}).status(), "types.values"},
      {ragged_tensor_from_variant_size(encoded, 3, 1).status(), "output_ragged_rank"},
      {ragged_tensor_from_variant_into(encoded, 0, 1, {{}, out}), "out.splits"},
      {ragged_tensor_from_variant_gradient(rt, {7}).status(), "encoded_shape"},
      {ragged_tensor_from_variant_gradient(rt, {-1}).status(), "encoded_shape", 0},
      {ragged_tensor_from_variant_gradient(number, {1}).status(), "decoded"},
      {ragged_tensor_to_variant_gradient(encoded, {splits({0, 3, 1})}, {12}).status(), "row_splits", 0},
      {ragged_tensor_to_variant_gradient(encoded, {splits({0, 3, 12})}, {-12}).status(), "dense_values_shape", 0},
      {ragged_tensor_to_variant_gradient(encoded, {splits({0, 3, 12})}, {11}).status(), "dense_values_shape"},
      {ragged_tensor_to_variant_gradient(missing, {splits({0, 3, 12})}, {7}).status(), "encoded_ragged_grad", 0},
      {ragged_tensor_to_variant_gradient(encoded, {splits({0, 3, 12})}, {12}, DType::Int8).status(),
       "encoded_ragged_grad", 0},
      {ragged_tensor_to_variant_gradient_into(encoded, {splits({0, 5, 12})}, {12}, seven), "out", 0},
  });
}

TEST(Arguments, OfTensorArraysAreNamedInErrors) {
  const auto data = counting<float>(12);
  std::vector<float> memory(12);
  std::vector<std::int64_t> lengths(2);
  const Tensor values = tensor_of(data, {12}), scalar = tensor_of<float>({1}, {}), pair = tensor_of<float>({1, 2}, {2});
  const Tensor wrong = tensor_of<double>({1}, {});
  TensorArray array = TensorArray::make(2, DType::Float32, {.clear_after_read = false}).value();
  ASSERT_TRUE(array.write(0, scalar).ok());
  TensorArray cleared = TensorArray::make(2, DType::Float32).value();
  ASSERT_TRUE(cleared.unstack(tensor_of<float>({1, 2, 3, 4}, {2, 2})).ok());
  TensorArray forward = TensorArray::make(2, DType::Float32).value();
  ASSERT_TRUE(forward.unstack(tensor_of<float>({1, 2, 3, 4}, {2, 2})).ok());
  TensorArray written = TensorArray::make(2, DType::Float32).value();
  ASSERT_TRUE(written.write(1, scalar).ok());
  const PartialShape three = PartialShape::make({3}).value();
  const View two = view_of(memory, {2});
  TensorArrayContainer container;
  TensorArrayContents contents{.size = 1};
  contents.elements.push_back({.index = 4});
  TensorArrayContents wrong_value{.size = 2};
  wrong_value.elements.push_back({.index = 0, .shape = {}, .value = wrong, .written = true});
  const TensorArrayOptions any_and_contiguous = {.contiguous = true, .any_device = true};
  std::vector<std::int64_t> ones(20, 1);
  TensorArray deep = TensorArray::make(2, DType::Float32, {.element_shape = Shape::make(ones).value()}).value();
  expect_blamed({
      {TensorArray::make(-1, DType::Float32).status(), "size"},
      {TensorArray::make(std::int64_t{1} << 40, DType::Float32).status(), "size"},
      {TensorArray::make(2, DType::Bytes, {.item_size = -1}).status(), "item_size"},
      {TensorArray::make(2, DType::Float32, {.contiguous = true}).status(), "contiguous"},
      {TensorArray::make(2, DType::Float32, any_and_contiguous).status(), "any_device"},
      {TensorArray::make(2, DType::String, {.element_shape = Shape(), .contiguous = true}).status(), "dtype"},
      {array.write(2, scalar), "index"},
      {array.write(-1, scalar), "index"},
      {array.write(0, scalar), "index"},
      {array.write(1, wrong), "value"},
      {array.write(9, scalar.view(), nullptr), "index"},
      {array.read(5).status(), "index"},
      {array.read(1).status(), "index"},
      {array.read_shape(-1).status(), "index"},
      {array.read_into(5, two), "index"},
      {array.read_into(0, two), "out"},
      {array.gather({0, 5}).status(), "indices", 1},
      {array.gather({0, 1}).status(), "indices", 1},
      {array.gather({0}, three).status(), "element_shape"},
      {cleared.gather({1, 0, 1}).status(), "indices", 2},
      {array.gather_shape({0, -1}).status(), "indices", 1},
      {array.gather_into({7}, two), "indices", 0},
      {array.gather_into({0}, two), "out", 0},
      {array.stack().status(), ""},
      {array.stack_shape().status(), ""},
      {array.stack_into(two), ""},
      {forward.stack_into(two), "out"},
      {array.concat().status(), ""},
      {forward.concat(three).status(), "element_shape_except0"},
      {forward.concat_shape(three).status(), "element_shape_except0"},
      {forward.concat_into(two, lengths), "out", 0},
      {forward.concat_into(view_of(memory, {4}), std::span(lengths).first(1)), "lengths"},
      {array.split(values, {12}), "lengths"},
      {array.split(values, {13, -1}), "lengths", 1},
      {array.split(scalar, {}), "value"},
      {written.split(pair, {1, 1}), ""},
      {array.scatter({0, 7}, pair), "indices", 1},
      {array.scatter({1, 0}, pair), "indices", 1},
      {array.scatter({1, 1}, pair), "indices", 1},
      {array.scatter({-1, 1}, pair), "indices", 0},
      {array.scatter({1}, pair), "value"},
      {array.unstack(scalar), "value"},
      {array.unstack(values), "value"},
      {written.unstack(pair), ""},
      {array.grad("a").value().grad("b").status(), ""},
      {deep.grad_with_shape("a", {-1}).status(), "shape_to_prepend", 0},
      {deep.grad_with_shape("a", ones).status(), "shape_to_prepend"},
      {TensorArray::restore(contents).status(), "contents.elements", 0},
      {TensorArray::restore(wrong_value).status(), "contents.elements", 0},
      {tensor_array_grad_with_shape(deep, 0, {-1}, "a").status(), "shape_to_prepend", 0},
      {container.make(1, DType::Float32, {.name = "a@b"}).status(), "name"},
      {container.make(-1, DType::Float32).status(), "size"},
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
