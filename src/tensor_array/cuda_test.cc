// Tensor arrays with elements on a CUDA device, beside those on the CPU.
#include "on_device.h"

namespace backslice {
namespace {

using namespace testing;

Tensor random_values(std::mt19937& random, DType dtype, Ints shape) {
  RandomTensor made = contiguous_tensor(random, dtype, shape);
  remove_nans(made.memory);
  return slice(Selection::all(made.view.shape()), made.view).value();
}

void expect_equal(const Result<Tensor>& device, const Result<Tensor>& cpu) {
  ASSERT_EQ(device.ok(), cpu.ok()) << device.status().to_string() << " / " << cpu.status().to_string();
  if (!cpu.ok()) return;
  EXPECT_EQ(device->device(), Device::cuda(0));
  ASSERT_EQ(device->shape(), cpu->shape());
  EXPECT_EQ(downloaded(to_device(to_cpu(*device)).view()), downloaded(to_device(*cpu).view()));
}

struct Arrays {
  TensorArray cpu, device;
};

Arrays make(std::int64_t size, DType dtype, TensorArrayOptions options = {}) {
  const TensorArray cpu = TensorArray::make(size, dtype, options).value();
  options.device = Device::cuda(0);
  return {cpu, TensorArray::make(size, dtype, options).value()};
}

constexpr DType kTypes[] = {DType::Float32, DType::Int8,      DType::BFloat16,  DType::Float64,
                            DType::Float16, DType::Complex64, DType::Float8E5M2};

TEST(TensorArrayCuda, SumsAreFormedInTheOrderOfTheWrites) {
  std::mt19937 random(91);
  for (DType dtype : kTypes) {
    for (std::size_t terms : {1, 2, 3, 7, 8, 9, 20}) {
      Arrays arrays = make(3, dtype);
      TensorArray cpu = arrays.cpu.grad("g").value(), device = arrays.device.grad("g").value();
      EXPECT_EQ(device.device(), Device::cuda(0));
      for (std::size_t i = 0; i < terms; ++i) {
        for (std::int64_t index : {0, 2}) {
          const Tensor value = random_values(random, dtype, {5, 7});
          ASSERT_TRUE(cpu.write(index, value).ok());
          ASSERT_TRUE(device.write(index, to_device(value)).ok());
        }
      }
      const Tensor value = random_values(random, dtype, {5, 7});
      ASSERT_TRUE(cpu.write(1, value).ok());
      ASSERT_TRUE(device.write(1, to_device(value)).ok());
      expect_equal(device.stack(), cpu.stack());
    }
  }
}

TEST(TensorArrayCuda, UnwrittenElementsAreZerosOnTheDevice) {
  Arrays arrays =
      make(4, DType::Float32, {.element_shape = PartialShape(*Shape::make({2})), .clear_after_read = false});
  const Tensor value = tensor_of<float>({1, 2}, {2});
  ASSERT_TRUE(arrays.cpu.write(2, value).ok());
  ASSERT_TRUE(arrays.device.write(2, to_device(value)).ok());
  expect_equal(arrays.device.read(0), arrays.cpu.read(0));
  expect_equal(arrays.device.gather({3, 2, 2}), arrays.cpu.gather({3, 2, 2}));
  const auto cpu = arrays.cpu.concat().value(), device = arrays.device.concat().value();
  expect_equal(device.value, cpu.value);
  EXPECT_EQ(device.lengths, cpu.lengths);
}

TEST(TensorArrayCuda, ScattersSplitsAndUnstacks) {
  std::mt19937 random(92);
  for (bool contiguous : {false, true}) {
    TensorArrayOptions options{.element_shape = PartialShape(*Shape::make({3, 4})), .contiguous = contiguous};
    Arrays arrays = make(5, DType::Float16, options);
    RandomTensor value = random_tensor(random, DType::Float16, {4, 3, 4});
    const DeviceTwin twin(value);
    const Tensor cpu_value = Tensor::of(Buffer::wrap(nullptr, value.memory.data()), value.view);
    const Tensor device_value = Tensor::of(Buffer::wrap(nullptr, twin.view().data, Device::cuda(0)), twin.view());
    ASSERT_TRUE(arrays.cpu.scatter({4, 0, 1, 3}, cpu_value).ok());
    ASSERT_TRUE(arrays.device.scatter({4, 0, 1, 3}, device_value).ok());
    expect_equal(arrays.device.stack(), arrays.cpu.stack());
  }
  Arrays arrays = make(3, DType::Int32);
  const Tensor value = random_values(random, DType::Int32, {6, 2});
  ASSERT_TRUE(arrays.cpu.split(value, {1, 0, 5}).ok());
  ASSERT_TRUE(arrays.device.split(to_device(value), {1, 0, 5}).ok());
  expect_equal(arrays.device.concat().value().value, arrays.cpu.concat().value().value);
}

TEST(TensorArrayCuda, ReadsIntoMemoryOfTheCallers) {
  std::mt19937 random(93);
  Arrays arrays = make(2, DType::BFloat16);
  TensorArray cpu = arrays.cpu.grad("g").value(), device = arrays.device.grad("g").value();
  for (std::int64_t index : {0, 1, 0}) {
    const Tensor value = random_values(random, DType::BFloat16, {3});
    ASSERT_TRUE(cpu.write(index, value).ok());
    ASSERT_TRUE(device.write(index, to_device(value)).ok());
  }
  RandomTensor out = random_tensor(random, DType::BFloat16, {2, 3});
  const DeviceTwin twin(out);
  const Status filled = device.stack_into(twin.view());
  ASSERT_TRUE(filled.ok()) << filled.to_string();
  ASSERT_TRUE(cpu.stack_into(out.view).ok());
  EXPECT_EQ(twin.memory(), out.memory);
}

TEST(TensorArrayCuda, ElementsAreOnOneDevice) {
  Arrays arrays = make(2, DType::Float32);
  const Tensor value = tensor_of<float>({1}, {1});
  EXPECT_TRUE(is_error(arrays.cpu.write(0, to_device(value)), StatusCode::InvalidArgument, "on the CPU", "cuda:0"));
  EXPECT_TRUE(is_error(arrays.device.write(0, value), StatusCode::InvalidArgument, "on cuda:0"));
  EXPECT_FALSE(TensorArray::make(1, DType::String, {.device = Device::cuda(0)}).ok());
  ASSERT_TRUE(arrays.device.write(0, to_device(value)).ok());
  std::vector<float> out(1);
  EXPECT_TRUE(
      is_error(arrays.device.read_into(0, view_of(out, {1})), StatusCode::InvalidArgument, "out is on the CPU"));
}

}  // namespace
}  // namespace backslice
