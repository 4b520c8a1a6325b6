// Every dtype in every operation.
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

// What an operation said, and the argument that it must blame; "" for none.
struct Refusal {
  Status status;
  const char* argument;
};

class EveryDType : public ::testing::TestWithParam<DType> {};

// Numbers that a file or another library may hold where a DType is expected.
class NoDType : public ::testing::TestWithParam<int> {
 protected:
  DType dtype() const { return static_cast<DType>(GetParam()); }

  // Views that nobody checked when they were made.
  ConstView input(const std::vector<std::byte>& memory, Ints shape) const {
    return {memory.data(), dtype(), contiguous_layout(*Shape::make(shape), 4)};
  }
  View output(std::vector<std::byte>& memory, Ints shape) const {
    return {memory.data(), dtype(), contiguous_layout(*Shape::make(shape), 4)};
  }
};
INSTANTIATE_TEST_SUITE_P(, NoDType, ::testing::Values(40, 99, 128, 255));

TEST_P(NoDType, IsKnownAsUnknown) {
  EXPECT_FALSE(is_element_type(dtype()));
  EXPECT_EQ(name(dtype()), "unknown");
  EXPECT_EQ(item_size(dtype()), 0);
  EXPECT_FALSE(can_add(dtype()));
  EXPECT_FALSE(has_zero(dtype()));
}

TEST_P(NoDType, IsRefusedWhereSomethingIsMade) {
  float memory[6] = {};
  const Selection all = at({6}, ":");
  const std::string what = " is " + std::to_string(GetParam()) + ", which is not an element type";
  const VariantArray nothing = VariantArray::make({}, {0}).value();
  const Refusal refused[] = {
      {Tensor::make(dtype(), {6}).status(), "dtype"},
      {Tensor::zeros(dtype(), {6}).status(), "dtype"},
      {View::contiguous(static_cast<void*>(memory), dtype(), {6}).status(), "dtype"},
      {View::contiguous(static_cast<void*>(memory), dtype(), {6}, 4).status(), "dtype"},
      {View::strided(static_cast<void*>(memory), dtype(), {6}, {4}).status(), "dtype"},
      {make_contiguous_layout(dtype(), {6}).status(), "dtype"},
      {make_strided_layout(dtype(), {6}, {4}, 4).status(), "dtype"},
      {TensorArray::make(2, dtype()).status(), "dtype"},
      {TensorArray::make(2, dtype(), {.element_shape = *Shape::make({6}), .contiguous = true}).status(), "dtype"},
      {GradBuffer::make(dtype(), {6}).status(), "dtype"},
      {PreparedSlice::make(all, dtype()).status(), "dtype"},
      {PreparedSlice::make(all, dtype(), contiguous_layout(all.shape(), 4), contiguous_layout(all.shape(), 4)).status(),
       "dtype"},
      {slice_grad_cost(all, dtype()).status(), "dtype"},
      {ragged_tensor_from_variant(nothing, 0, 1, {.values = dtype()}).status(), "types.values"},
      {ragged_tensor_to_variant_gradient(nothing, {tensor_of<std::int64_t>({0}, {1})}, {0}, ValuesType(dtype()))
           .status(),
       "Tvalues"},
  };
  for (const auto& [status, argument] : refused) {
    EXPECT_TRUE(is_error(status, kInvalid, argument + what)) << status;
    EXPECT_TRUE(status.is_about_dtype()) << status;
    EXPECT_EQ(status.argument(), argument) << status;
  }
}

TEST_P(NoDType, IsRefusedInViewsThatWereMadeByHand) {
  std::vector<std::byte> given(24), filled(24);
  const Selection all = at({6}, ":");
  const ConstView in = input(given, {6});
  const View out = output(filled, {6});
  const Tensor tensor = Tensor::of(Buffer::wrap(nullptr, filled.data()), out);
  const Tensor matrix = tensor_of<std::int64_t>({0, 1, 2, 3, 4, 5}, {6, 1});
  const CooIndices indices = CooIndices::from_matrix(matrix).value();
  const Tensor floats = tensor_of(counting<float>(6), {6});
  TensorArray array = TensorArray::make(1, DType::Float32).value();
  GradBuffer buffer = GradBuffer::make(DType::Float32, {6}).value();
  const SliceGradient slices[] = {{all, in}};
  const Refusal refused[] = {
      {slice(all, in).status(), "x"},
      {slice_into(all, floats, out), "out"},
      {slice_into(all, in, out), "x"},
      {slice_grad(all, in).status(), "dy"},
      {slice_grad_into(all, in, out), "dy"},
      {slice_grad_into(all, in, out, Write::Accumulate), "dy"},
      {onnx_slice(in, {{0}, {6}}).status(), "data"},
      {onnx_slice_grad(in, {6}, {{0}, {6}}).status(), "grad"},
      {multi_slice_grad({6}, slices).status(), "slices"},
      {multi_slice_grad_into({6}, slices, out), "slices"},
      {multi_slice_write({6}, slices).status(), "slices"},
      {sparse_slice(indices, in, {6}, {0}, {6}).status(), "values"},
      {sparse_slice_grad(in, indices, {0}, indices).status(), "backprop_val_grad"},
      {sparse_slice_grad_into(floats, indices, {0}, indices, out), "out"},
      {CooIndices::from_matrix(input(given, {6, 1})).status(), "indices"},
      {RaggedTensor::make(tensor, {}).status(), "values"},
      {RaggedTensor::make(floats, {tensor}).status(), "nested_row_splits"},
      {array.write(0, tensor), "value"},
      {buffer.write(all, in), "dy"},
      {buffer.add(all, in), "dy"},
      {in.elements<float>().status(), ""},
  };
  for (const auto& [status, argument] : refused) {
    EXPECT_TRUE(is_error(status, kInvalid)) << status;
    EXPECT_TRUE(status.is_about_dtype()) << status;
    EXPECT_EQ(status.argument(), argument) << status;
  }
}

TEST(Bytes, NeedAnItemSize) {
  std::byte memory[6];
  const Selection all = at({6}, ":");
  const VariantArray nothing = VariantArray::make({}, {0}).value();
  const Refusal refused[] = {
      {Tensor::make(DType::Bytes, {6}).status(), "item_size"},
      {View::contiguous(static_cast<void*>(memory), DType::Bytes, {6}).status(), "item_size"},
      {View::strided(static_cast<void*>(memory), DType::Bytes, {6}, {1}).status(), "item_size"},
      {make_contiguous_layout(DType::Bytes, {6}).status(), "item_size"},
      {TensorArray::make(2, DType::Bytes).status(), "item_size"},
      {GradBuffer::make(DType::Bytes, {6}).status(), "item_size"},
      {GradBuffer::make(DType::Bytes, {6}, Context()).status(), "item_size"},
      {PreparedSlice::make(all, DType::Bytes).status(), "item_size"},
      {slice_grad_cost(all, DType::Bytes).status(), "item_size"},
      {ragged_tensor_from_variant(nothing, 0, 1, {.values = DType::Bytes}).status(), "types.values"},
  };
  for (const auto& [status, argument] : refused) {
    EXPECT_TRUE(is_error(status, kInvalid, "item_size is missing")) << status;
    EXPECT_EQ(status.argument(), argument) << status;
  }
  const Status zeros = Tensor::zeros(DType::Bytes, {6}).status();  // has no argument for it
  EXPECT_TRUE(is_error(zeros, kInvalid, "Tensor::make")) << zeros;
  EXPECT_EQ(zeros.argument(), "dtype") << zeros;
  EXPECT_TRUE(Tensor::make(DType::Bytes, {6}, 3).ok());
  EXPECT_TRUE(Tensor::make(DType::Bytes, {6}, 0).ok());  // items of no bytes, for who asks for them
  EXPECT_TRUE(is_error(Tensor::make(DType::Bytes, {6}, -2), kInvalid, "item_size -2 must be >= 0"));
}

std::int64_t size_of(DType dtype) { return dtype == DType::Bytes ? 5 : item_size(dtype); }

TEST_P(EveryDType, MovesForwardAndBack) {
  if (GetParam() == DType::String) return;  // has its own test below
  const std::int64_t size = size_of(GetParam());
  std::vector<unsigned char> x(static_cast<std::size_t>(6 * size));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<unsigned char>(i + 1);
  const ConstView view = ConstView::contiguous(x.data(), GetParam(), {6}, size).value();
  const Selection odd = at({6}, "1::2");

  Tensor y = slice(odd, view).value();
  ASSERT_EQ(y.dtype(), GetParam());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(std::memcmp(y.view().data + i * size, x.data() + (2 * i + 1) * size, static_cast<std::size_t>(size)), 0);
  }

  const Result<Tensor> dx = slice_grad(odd, y.view());
  if (!has_zero(GetParam())) {
    EXPECT_TRUE(is_error(dx, kInvalid, "float8_e8m0fnu has no zero", "3 elements"));
    EXPECT_TRUE(dx.status().is_about_dtype());
    EXPECT_TRUE(slice_grad(at({6}, "::-1"), view).ok());  // nothing left to be zero
    return;
  }
  const std::vector<std::byte> zeros(static_cast<std::size_t>(size));
  for (int i = 0; i < 6; ++i) {
    const void* expected = i % 2 == 1 ? static_cast<const void*>(x.data() + i * size) : zeros.data();
    EXPECT_EQ(std::memcmp(dx->view().data + i * size, expected, static_cast<std::size_t>(size)), 0) << i;
  }
}

TEST_P(EveryDType, AddsOrSaysThatItCannot) {
  const std::int64_t size = size_of(GetParam());
  auto out = Tensor::make(GetParam(), Shape::make({4}).value(), size).value();
  auto dy = Tensor::make(GetParam(), Shape::make({2}).value(), size).value();
  if (GetParam() != DType::String) {
    std::memset(out.view().data, 0, static_cast<std::size_t>(4 * size));
    std::memset(dy.view().data, 1, static_cast<std::size_t>(2 * size));
  }
  const Status status = slice_grad_into(at({4}, "1:3"), dy.view(), out.view(), Write::Accumulate);
  EXPECT_EQ(status.ok(), can_add(GetParam())) << status.to_string();
  if (!status.ok()) {
    EXPECT_TRUE(
        is_error(status, kInvalid, "dy: elements of dtype " + std::string(name(GetParam())), "cannot be added"));
    EXPECT_TRUE(status.is_about_dtype());
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryDType, ::testing::ValuesIn(all_dtypes().begin(), all_dtypes().end()),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(Strings, MoveAndTheirZeroIsEmpty) {
  const std::vector<std::string> dy = {"a string that is too long to be stored in place", "b"};
  Tensor dx = slice_grad(at({4}, "2:0:-1"), view_of(dy, {2})).value();
  EXPECT_THAT(elements<std::string>(dx), ElementsAre("", "b", dy[0], ""));
  std::vector<std::string> out(4, "old");
  EXPECT_TRUE(slice_grad_into(at({4}, "2:0:-1"), view_of(dy, {2}), view_of(out, {4})).ok());
  EXPECT_THAT(out, ElementsAre("", "b", dy[0], ""));
  Tensor y = slice(at({4}, "1:3"), view_of(out, {4})).value();
  EXPECT_THAT(elements<std::string>(y), ElementsAre("b", dy[0]));
}

TEST(Strings, MisalignedAreRefused) {
  alignas(std::string) std::byte memory[3 * sizeof(std::string)] = {};
  const ConstView x = ConstView::contiguous(memory + 1, DType::String, {2}).value();
  EXPECT_TRUE(is_error(slice(at({2}, ":"), x), kInvalid, "aligned"));
}

}  // namespace
}  // namespace backslice
