// Values, texts, containers and settings: public functions that run no kernel. tests/repository/test_boundaries.py
// finds exported functions that no file in this folder calls.
#include "backslice/backslice.h"
#include "backslice/broadcast.h"
#include "backslice/buffer_pool.h"
#include "backslice/cuda.h"
#include "backslice/notation.h"
#include "backslice/tensor_array_container.h"
#include "faults/fault_injection.h"

#ifdef BACKSLICE_FAULT_INJECTION

namespace backslice {
namespace {

using namespace testing;

const Selection& reversed_rows() {
  static const Selection selection = selection_of({6, 4}, "::-2, 1");
  return selection;
}

// A call without a state of its own.
Operation plain(std::string name, std::function<Status()> call) {
  return {std::move(name), [=] { return Attempt{call}; }};
}

std::vector<Operation> value_operations() {
  static const std::vector<float> memory = counting<float>(24);
  static const ConstView view = view_of(memory, {6, 4});
  static const std::vector<std::int64_t> numbers = counting<std::int64_t>(6), ones(3, 1), far(3, 99), axes = {0, 0, 7};
  static const std::vector<std::size_t> far_extents(3, SIZE_MAX);
  static const std::vector<int> many_extents(40, 1);
  static const std::vector<ConstView> columns = {view_of(numbers, {6}), view}, no_columns = {view};
  static const std::vector<Range> outside = {{3, 99}, {0, 4}};
  static const Shape three = *Shape::make({3});
  static const PartialShape partial = *PartialShape::make({-1, 4}), huge = *PartialShape::make({1LL << 40, 1LL << 40});
  return {
      plain("shape", [] { return status_of(Shape::make(axes)); }),
      plain("shape_refused", [] { return status_of(Shape::make({1, -1})); }),
      plain("shape_of_other_integers", [] { return status_of(Shape::make(far_extents)); }),
      plain("long_shape_of_other_integers", [] { return status_of(Shape::make(many_extents)); }),
      plain("strides_of_other_integers", [] { return status_of(Dims::make(far_extents)); }),
      plain("selection_of_a_whole_shape", [] { return status_of(Selection::all(axes)); }),
      plain("selection_of_a_wrong_shape", [] { return status_of(Selection::all({1, -1})); }),
      plain("partial_shape_refused", [] { return status_of(PartialShape::make({1, -2})); }),
      plain("prepended", [] { return status_of(partial.prepended(three)); }),
      plain("prepended_refused", [] { return status_of(huge.prepended(three)); }),
      plain("size_in_bytes_refused", [] { return status_of(size_in_bytes(*Shape::make({1LL << 62}), 8)); }),
      plain("contiguous_layout_refused", [] { return status_of(make_contiguous_layout(DType::Int8, ones, 3)); }),
      plain("strided_layout_refused", [] { return status_of(make_strided_layout(DType::Int8, ones, numbers)); }),
      plain("strides_refused", [] { return status_of(ConstView::strided(memory.data(), ones, numbers)); }),
      plain("wide_strides_refused", [] { return status_of(ConstView::strided(memory.data(), {2}, {1LL << 62})); }),
      plain("view_refused", [] { return status_of(ConstView::of(memory, ones)); }),
      plain("elements_refused", [] { return status_of(view.elements<double>()); }),
      plain("broadcast_refused", [] { return status_of(broadcast(three, view)); }),
      plain("columns", [] { return status_of(CooIndices::from_columns({columns.data(), 1})); }),
      plain("columns_refused", [] { return status_of(CooIndices::from_columns(columns)); }),
      plain("columns_of_floats", [] { return status_of(CooIndices::from_columns(no_columns)); }),
      plain("matrix_refused", [] { return status_of(CooIndices::from_matrix(view)); }),
      plain("copy_of", [] { return status_of(Tensor::copy_of(memory, {24})); }),
      plain("copy_of_refused", [] { return status_of(Tensor::copy_of(memory, ones)); }),
      plain("zeros", [] { return status_of(Tensor::zeros(DType::Int8, {24})); }),
      plain("tensor_refused", [] { return status_of(Tensor::make(DType::Int8, {1LL << 62, 1})); }),
      plain("restrict_refused", [] { return status_of(reversed_rows().restrict(outside)); }),
  };
}

std::vector<Operation> notation_operations() {
  static const TfSlice tf{{1, 0}, {3, 9}, {1, 1}}, wrong_tf{{1, 0}, {3, 9}, {1, 0}};
  static const OnnxSlice onnx{{1}, {3}}, wrong_onnx{{1, 0}, {3, 9}, std::vector<std::int64_t>{0, 0}};
  static const SliceArguments as_tf = tf, as_onnx = wrong_onnx;
  static const SliceText text = parse_slice(Dialect::Python, "1:3, 9").value();
  static const IndexText index = parse_index_text("1:3, 9").value();
  static const std::vector<Dialect> all = {Dialect::Tf, Dialect::Onnx, Dialect::Python};
  static const Selection deep = selection_of(std::vector<std::int64_t>(32, 1), "0");
  return {
      plain("from_tf", [] { return status_of(Selection::from_tf({6, 4}, tf)); }),
      plain("from_tf_refused", [] { return status_of(Selection::from_tf({6, 4}, wrong_tf)); }),
      plain("from_onnx", [] { return status_of(Selection::from_onnx({6, 4}, onnx)); }),
      plain("from_onnx_refused", [] { return status_of(Selection::from_onnx({6, 4}, wrong_onnx)); }),
      plain("from_begin_size", [] { return status_of(Selection::from_begin_size({6, 4}, {1, 0}, {2, -1})); }),
      plain("from_begin_size_refused", [] { return status_of(Selection::from_begin_size({6, 4}, {1, 9}, {2, -1})); }),
      plain("from_index_text_refused", [] { return status_of(Selection::from_index_text({6, 4}, index)); }),
      plain("make_refused", [] { return status_of(Selection::make(*Shape::make({6, 4}), {}, {})); }),
      plain("to_tf", [] { return status_of(reversed_rows().to_tf()); }),
      plain("to_tf_refused", [] { return status_of(deep.to_tf()); }),
      plain("parse_integers", [] { return status_of(parse_integers("1, 0x10, INT_MAX", "starts")); }),
      plain("parse_integers_refused", [] { return status_of(parse_integers("1, what", "starts")); }),
      plain("parse_slice", [] { return status_of(parse_slice(Dialect::Onnx, "starts=1,2 ends=3,4 axes=0,1")); }),
      plain("parse_slice_refused", [] { return status_of(parse_slice(Dialect::Tf, "begin=1 of what")); }),
      plain("text_to_selection_refused", [] { return status_of(text.to_selection({6, 4})); }),
      plain("to_selection", [] { return status_of(to_selection({6, 4}, as_tf)); }),
      plain("to_selection_refused", [] { return status_of(to_selection({6, 4}, as_onnx)); }),
      plain("forward_code", [] { return status_of(forward_code(reversed_rows(), Dialect::Onnx)); }),
      plain("gradient_code", [] { return status_of(gradient_code(reversed_rows(), Dialect::Tf)); }),
      plain("code_refused", [] { return status_of(forward_code(deep, Dialect::Tf)); }),
      plain("disagreements", [] { return status_of(disagreements({6, 4}, as_tf, all)); }),
  };
}

std::vector<Operation> container_operations() {
  static const RaggedTensor rows =
      RaggedTensor::make(tensor_of<float>({1, 2, 3}, {3}), {tensor_of<std::int64_t>({0, 2, 3}, {3})}).value();
  static const VariantArray variants = ragged_tensor_to_variant(rows).value();
  static const std::string source(40, 's'), other(40, 'o');
  static const TensorArrayOptions options{.element_shape = *Shape::make({2}), .contiguous = true};
  const auto array = [](const std::function<Status(TensorArray&)>& call) {
    return [=] {
      const auto made = std::make_shared<TensorArray>(TensorArray::make(3, DType::Float32, options).value());
      EXPECT_TRUE(made->grad(source).ok());
      return Attempt{[=] { return call(*made); }};
    };
  };
  const auto container = [](const std::function<Status(TensorArrayContainer&)>& call) {
    return [=] {
      const auto made = std::make_shared<TensorArrayContainer>();
      EXPECT_TRUE(made->make(3, DType::Float32, {.name = "a"}).ok());
      return Attempt{[=] { return call(*made); }};
    };
  };
  return {
      plain("variant_reshape", [] { return status_of(variants.reshape({1, 2})); }),
      plain("variant_reshape_refused", [] { return status_of(variants.reshape({3})); }),
      plain("variant_element_size", [] { return status_of(variants.element_size(1)); }),
      plain("variant_element_refused", [] { return status_of(variants.at(9)); }),
      {"array_stack", array([](TensorArray& a) { return status_of(a.stack()); })},
      {"array_size", array([](TensorArray& a) { return status_of(a.size()); })},
      {"array_shape", array([](TensorArray& a) { return status_of(a.element_shape()); })},
      {"array_is_closed", array([](TensorArray& a) { return status_of(a.is_closed()); })},
      {"array_close", array([](TensorArray& a) { return a.close(); })},
      {"array_find_grad", array([](TensorArray& a) { return status_of(a.find_grad(source)); })},
      {"array_grad_with_shape",
       array([](TensorArray& a) { return status_of(tensor_array_grad_with_shape(a, 0, {2}, other)); })},
      {"array_grad_refused",
       array([](TensorArray& a) { return status_of(tensor_array_grad_with_shape(a, 0, {-1}, other)); })},
      {"container_find", container([](TensorArrayContainer& c) { return status_of(c.find("a_0@x")); })},
      {"container_names", container([](TensorArrayContainer& c) { return status_of(c.names()); })},
      {"container_remove", container([](TensorArrayContainer& c) { return status_of(c.remove("none")); })},
      {"grad_buffer_zero",
       [] {
         const auto buffer = std::make_shared<GradBuffer>(GradBuffer::make(DType::Float32, {600, 400}).value());
         buffer->writable();
         return Attempt{[=] { return buffer->zero(); }};
       }},
  };
}

// Without a device, these are refused or have nothing to do.
std::vector<Operation> setting_operations() {
  return {
      plain("set_num_threads_refused", [] { return set_num_threads(0); }),
      plain("set_pool_limit_refused", [] { return set_pool_limit(-1); }),
      plain("cuda_devices", [] { return status_of(cuda_devices()); }),
      plain("cuda_versions", [] { return status_of(cuda_versions()); }),
      plain("cuda_allocator", [] { return status_of(cuda_allocator(-1)); }),
      plain("cuda_device_of", [] { return status_of(cuda_device_of(nullptr)); }),
      plain("cuda_keep", [] { return cuda_keep(Buffer(), nullptr); }),
      plain("cuda_await", [] { return cuda_await(Buffer(), nullptr); }),
      plain("cuda_copy", [] { return cuda_copy(View(), ConstView(), nullptr); }),
      plain("cuda_wait", [] { return cuda_wait(-1, nullptr, nullptr); }),
      plain("cuda_synchronize", [] { return cuda_synchronize(-1); }),
  };
}

INSTANTIATE_TEST_SUITE_P(Values, FaultInjection, ::testing::ValuesIn(value_operations()), name_of_operation);
INSTANTIATE_TEST_SUITE_P(Notation, FaultInjection, ::testing::ValuesIn(notation_operations()), name_of_operation);
INSTANTIATE_TEST_SUITE_P(Containers, FaultInjection, ::testing::ValuesIn(container_operations()), name_of_operation);
INSTANTIATE_TEST_SUITE_P(Settings, FaultInjection, ::testing::ValuesIn(setting_operations()), name_of_operation);

}  // namespace
}  // namespace backslice

#endif
