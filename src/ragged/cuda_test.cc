// Ragged tensors with values on a CUDA device, compared with ragged tensors on the CPU.
#include "backslice/ragged_slice.h"
#include "backslice/ragged_variant.h"
#include "on_device.h"

namespace backslice {
namespace {

using namespace testing;

constexpr DType kTypes[] = {DType::Float32, DType::Int8, DType::BFloat16, DType::Complex128, DType::Float16};

Tensor random_values(std::mt19937& random, DType dtype, Ints shape) {
  RandomTensor made = contiguous_tensor(random, dtype, shape);
  remove_nans(made.memory);
  return slice(Selection::all(made.view.shape()), made.view).value();
}

std::vector<std::int64_t> random_splits(std::mt19937& random, std::int64_t rows, unsigned most) {
  std::vector<std::int64_t> splits = {0};
  for (std::int64_t i = 0; i < rows; ++i) splits.push_back(splits.back() + static_cast<std::int64_t>(random() % most));
  return splits;
}

Tensor vector_of(const std::vector<std::int64_t>& list) { return tensor_of(list, {std::ssize(list)}); }

RaggedTensor on_cpu(const RaggedTensor& rt) {
  return RaggedTensor::make(to_cpu(rt.values()), rt.nested_row_splits()).value();
}

// One ragged tensor on both devices.
struct Pair {
  RaggedTensor cpu, device;
};

Pair random_pair(std::mt19937& random, DType dtype, std::int64_t rows, unsigned most) {
  const auto inner = random_splits(random, rows, most);
  const auto outer = random_splits(random, 6, 3);
  std::vector<std::int64_t> lists = outer;
  for (auto& split : lists) split = split * rows / std::max<std::int64_t>(1, outer.back());
  if (outer.back() == 0) lists.back() = rows;
  const Tensor values = random_values(random, dtype, {inner.back(), 3});
  std::vector<Tensor> splits = {vector_of(inner)};
  if (random() % 2 == 0) splits.insert(splits.begin(), vector_of(lists));
  return {RaggedTensor::make(values, splits).value(), RaggedTensor::make(to_device(values), splits).value()};
}

TEST(RaggedCuda, EncodesAndDecodes) {
  std::mt19937 random(81);
  for (int i = 0; i < 60; ++i) {
    const Pair rt =
        random_pair(random, kTypes[random() % std::size(kTypes)], static_cast<std::int64_t>(random() % 40), 9);
    const VariantArray encoded = ragged_tensor_to_variant(rt.device).value();
    const int inner = rt.cpu.ragged_rank() - 1;
    EXPECT_EQ(on_cpu(ragged_tensor_from_variant(encoded, inner, inner + 1).value()),
              ragged_tensor_from_variant(ragged_tensor_to_variant(rt.cpu).value(), inner, inner + 1).value());
    // Takes rows one by one in another order, so that none are adjacent.
    std::vector<std::optional<RaggedTensor>> device, cpu;
    for (std::int64_t row = rt.cpu.rows(); row-- > 0;) {
      device.push_back(rt.device.row(row).value());
      cpu.push_back(rt.cpu.row(row).value());
    }
    const auto count = std::ssize(cpu);
    if (count == 0) continue;
    const auto joined = ragged_tensor_from_variant(VariantArray::make(device, {count}).value(), inner, inner + 1);
    ASSERT_TRUE(joined.ok()) << joined.status().to_string();
    EXPECT_EQ(joined->device(), Device::cuda(0));
    EXPECT_EQ(on_cpu(*joined),
              ragged_tensor_from_variant(VariantArray::make(cpu, {count}).value(), inner, inner + 1).value());
    EXPECT_TRUE(*joined ==
                ragged_tensor_from_variant(VariantArray::make(cpu, {count}).value(), inner, inner + 1).value());
  }
}

TEST(RaggedCuda, GradientsOfPiecesAreThoseOfTheCpu) {
  std::mt19937 random(82);
  for (int i = 0; i < 120; ++i) {
    const DType dtype = kTypes[random() % std::size(kTypes)];
    const std::int64_t rows = i % 30 == 0 ? 20'000 : static_cast<std::int64_t>(random() % 40);
    const auto splits = random_splits(random, rows, i % 7 == 0 && rows < 100 ? 3000 : 9);
    std::vector<std::optional<RaggedTensor>> device, cpu;
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      if (random() % 4 == 0) {
        device.push_back(std::nullopt);
        cpu.push_back(std::nullopt);
        continue;
      }
      const Tensor values = random_values(random, dtype, {splits[at + 1] - splits[at], 2});
      cpu.push_back(RaggedTensor::make(values, {}).value());
      device.push_back(RaggedTensor::make(to_device(values), {}).value());
    }
    const std::vector<Tensor> lists = {vector_of(splits)};
    const VariantArray on_cpu = VariantArray::make(cpu, {rows}).value(),
                       on_gpu = VariantArray::make(device, {rows}).value();
    const std::vector<std::int64_t> shape = {splits.back(), 2};
    const auto made = ragged_tensor_to_variant_gradient(on_gpu, lists, shape, ValuesType(dtype), on_device());
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    const Tensor expected = ragged_tensor_to_variant_gradient(on_cpu, lists, shape, ValuesType(dtype)).value();
    const Tensor wanted = to_device(expected);
    ASSERT_EQ(downloaded(made->view()), downloaded(wanted.view()));
    for (Write write : {Write::Overwrite, Write::IntoZeros, Write::Accumulate}) {
      RandomTensor out = (random() % 2 == 0 ? contiguous_tensor : random_tensor)(random, dtype, shape);
      // in other layouts, segments are added one by one
      if (rows > 1000) out = contiguous_tensor(random, dtype, shape);
      remove_nans(out.memory);
      const DeviceTwin device_out(out);
      const Status status = ragged_tensor_to_variant_gradient_into(on_gpu, lists, shape, device_out.view(), write);
      ASSERT_TRUE(status.ok()) << status.to_string();
      ASSERT_TRUE(ragged_tensor_to_variant_gradient_into(on_cpu, lists, shape, out.view, write).ok());
      ASSERT_EQ(device_out.memory(), out.memory);
    }
  }
}

// Segments at any address, of similar lengths, some of them missing.
void expect_joined(std::mt19937& random, DType dtype, std::int64_t pieces) {
  constexpr std::int64_t kItems = 50'000;
  const Tensor values = random_values(random, dtype, {kItems}), on_gpu = to_device(values);
  const unsigned least = 1 + random() % 40, more = 1 + random() % 60;
  std::vector<std::optional<RaggedTensor>> device, cpu;
  std::vector<std::int64_t> splits = {0};
  while (std::ssize(cpu) < pieces) {
    const auto count = static_cast<std::int64_t>(least + random() % more);
    splits.push_back(splits.back() + count);
    cpu.push_back(std::nullopt);
    device.push_back(std::nullopt);
    if (random() % 8 == 0) continue;
    const std::int64_t first = static_cast<std::int64_t>(random()) % (kItems - count);
    const auto part_of = [&](const Tensor& whole) {
      auto* data = const_cast<std::byte*>(whole.data()) + first * item_size(dtype);
      const View view = View::contiguous(data, dtype, {count}, 0, whole.device()).value();
      return RaggedTensor::make(Tensor::of(whole.buffer(), view), {}).value();
    };
    cpu.back() = part_of(values);
    device.back() = part_of(on_gpu);
  }
  const std::vector<std::int64_t> shape = {splits.back()};
  const std::vector<Tensor> lists = {vector_of(splits)};
  const VariantArray from_cpu = VariantArray::make(cpu, {std::ssize(cpu)}).value();
  const VariantArray from_gpu = VariantArray::make(device, {std::ssize(cpu)}).value();
  const auto made = ragged_tensor_to_variant_gradient(from_gpu, lists, shape, ValuesType(dtype), on_device());
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  const Tensor expected = ragged_tensor_to_variant_gradient(from_cpu, lists, shape, ValuesType(dtype)).value();
  const Tensor wanted = to_device(expected);
  ASSERT_EQ(downloaded(made->view()), downloaded(wanted.view()));
  for (Write write : {Write::Overwrite, Write::IntoZeros, Write::Accumulate}) {
    RandomTensor out = contiguous_tensor(random, dtype, shape);
    remove_nans(out.memory);
    const DeviceTwin device_out(out);
    const Status status = ragged_tensor_to_variant_gradient_into(from_gpu, lists, shape, device_out.view(), write);
    ASSERT_TRUE(status.ok()) << status.to_string();
    ASSERT_TRUE(ragged_tensor_to_variant_gradient_into(from_cpu, lists, shape, out.view, write).ok());
    ASSERT_EQ(device_out.memory(), out.memory) << name(dtype) << " " << least << " " << more;
  }
}

// Enough segments that a tile of the kernel has dozens of them.
TEST(RaggedCuda, ShortPiecesAreJoinedFromAnywhere) {
  std::mt19937 random(86);
  for (std::size_t i = 0; i < 60; ++i) {
    expect_joined(random, kTypes[i % std::size(kTypes)], 1500);
    if (HasFatalFailure()) return;
  }
}

// Their tables are larger than 1 MiB, and so are copied instead of passed to kernels.
TEST(RaggedCudaLarge, SeventyThousandPiecesAreJoined) {
  std::mt19937 random(87);
  for (DType dtype : {DType::Float32, DType::BFloat16}) {
    expect_joined(random, dtype, 70'000);
    if (HasFatalFailure()) return;
  }
}

TEST(RaggedCuda, SlicesAndTheirGradientsAreThoseOfTheCpu) {
  std::mt19937 random(83);
  for (const char* text : {"::2", "1:5", ":, ::-1", "::-1, 1:3", "2", ":, 0:2, 1", "..., ::2"}) {
    const Index index = parse_index(text).value();
    for (int i = 0; i < 8; ++i) {
      const Pair rt = random_pair(random, DType::Float32, 30, 7);
      const auto taken = ragged_slice(index, rt.device);
      const auto expected = ragged_slice(index, rt.cpu);
      ASSERT_EQ(taken.ok(), expected.ok()) << taken.status().to_string();
      if (!expected.ok()) continue;
      ASSERT_EQ(on_cpu(*taken), *expected) << text;
      const Tensor grad = random_values(random, DType::Float32, expected->values().shape());
      const auto dx = ragged_slice_grad(index, rt.device, to_device(grad));
      ASSERT_TRUE(dx.ok()) << dx.status().to_string();
      EXPECT_EQ(elements<float>(to_cpu(*dx)), elements<float>(ragged_slice_grad(index, rt.cpu, grad.view()).value()));
    }
  }
}

TEST(RaggedCuda, NothingIsDecodedIntoMemoryOfTheDevice) {
  const Tensor values = to_device(tensor_of<float>({1}, {1}));
  Tensor splits = tensor_of<std::int64_t>({7}, {1});
  RaggedView out{
      {splits.view()},
      View::contiguous(const_cast<std::byte*>(values.data()), DType::Float32, {0}, 0, Device::cuda(0)).value()};
  const VariantArray none = VariantArray::make({}, {0}).value();
  const FromVariantTypes types{ValuesType(DType::Float32), DType::Int64};
  const Status status = ragged_tensor_from_variant_into(none, 0, 1, out, types);
  EXPECT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(elements<std::int64_t>(splits), std::vector<std::int64_t>{0});
}

TEST(RaggedCuda, SplitsOnTheDeviceAreCopiedAndChecked) {
  const Tensor values = to_device(tensor_of<float>({1, 2, 3}, {3}));
  const Tensor splits = to_device(vector_of({0, 2, 3})), wrong = to_device(vector_of({0, 2, 1}));
  const RaggedTensor rt = RaggedTensor::make(values, {splits}).value();
  EXPECT_TRUE(rt.nested_row_splits()[0].device().is_cpu());
  EXPECT_EQ(rt.split(0, 1), 2);
  EXPECT_TRUE(
      is_error(RaggedTensor::make(values, {wrong}), StatusCode::InvalidArgument, "nested_row_splits[0][2] is 1"));
  const Tensor lengths = to_device(vector_of({2, 1}));
  EXPECT_EQ(RaggedTensor::from_row_lengths(values, {lengths}).value().split(0, 2), 3);
}

TEST(RaggedCuda, PiecesOnDifferentDevicesAreRefused) {
  const Tensor values = tensor_of<float>({1, 2}, {2});
  std::vector<std::optional<RaggedTensor>> mixed = {RaggedTensor::make(to_device(values), {}).value(),
                                                    RaggedTensor::make(values, {}).value()};
  const VariantArray encoded = VariantArray::make(mixed, {2}).value();
  EXPECT_TRUE(is_error(ragged_tensor_to_variant_gradient(encoded, {vector_of({0, 2, 4})}, {4}),
                       StatusCode::InvalidArgument, "piece 1 is on the CPU"));
  EXPECT_TRUE(is_error(ragged_tensor_from_variant(encoded, 0, 1), StatusCode::InvalidArgument, "element 1"));
}

}  // namespace
}  // namespace backslice
