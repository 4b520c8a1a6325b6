// The dense operations on a CUDA device and on the CPU give the same bytes, for every layout, alignment and dtype.
#include <deque>

#include "backend.h"

namespace backslice {
namespace {

using namespace testing;

// Runs body(uploaded dst, uploaded src) on both backends, and compares the memory of dst.
template <class Body>
void expect_equal_on_both(const RandomTensor& dst, const RandomTensor& src, const Body& body) {
  std::vector<std::byte> results[2];
  for (int i = 0; i < 2; ++i) {
    const Backend& backend = i == 0 ? cpu() : gpu();
    const Uploaded to = backend.upload(dst), from = backend.upload(src);
    const Status status = body(to.view, from.view);
    ASSERT_TRUE(status.ok()) << backend.name() << ": " << status.to_string();
    results[i] = backend.download(to);
  }
  const auto differ = std::mismatch(results[0].begin(), results[0].end(), results[1].begin());
  ASSERT_EQ(results[0], results[1]) << "at byte " << differ.first - results[0].begin();
}

// Numbers of less than eight bits have a byte each, with zeros in the other bits.
void make_numbers(std::vector<std::byte>& memory, DType dtype) {
  remove_nans(memory);
  const std::string text(name(dtype));
  const auto mask = text.ends_with("int1")        ? std::byte{0x01}
                    : text.ends_with("int2")      ? std::byte{0x03}
                    : text.ends_with("int4")      ? std::byte{0x0f}
                    : text.starts_with("float4_") ? std::byte{0x0f}
                    : text.starts_with("float6_") ? std::byte{0x3f}
                                                  : std::byte{0xff};
  for (std::byte& b : memory) b &= mask;
}

class DenseOnCuda : public ::testing::TestWithParam<DType> {
 protected:
  DType dtype() const { return GetParam(); }
  std::mt19937 random_{41};

  // The sum of two NaNs may be either of them on the CPU, so dy has none.
  void expect_all(const Selection& s, const RandomTensor& x, const RandomTensor& y) {
    SCOPED_TRACE(s.explain());
    expect_equal_on_both(y, x, [&](const View& out, const View& in) { return slice_into(s, in, out); });
    if (!has_zero(dtype()) && !s.covers_input()) return;
    expect_equal_on_both(x, y, [&](const View& out, const View& in) { return slice_grad_into(s, in, out); });
    expect_equal_on_both(
        x, y, [&](const View& out, const View& in) { return slice_grad_into(s, in, out, Write::IntoZeros); });
    if (!can_add(dtype())) return;
    RandomTensor terms = y;
    terms.view.data = terms.memory.data() + (y.view.data - y.memory.data());
    make_numbers(terms.memory, dtype());
    expect_equal_on_both(
        x, terms, [&](const View& out, const View& in) { return slice_grad_into(s, in, out, Write::Accumulate); });
  }
};

TEST_P(DenseOnCuda, AnyStridesAndAlignment) {
  for (int i = 0; i < 40; ++i) {
    const Selection s = random_selection(random_, 4);
    RandomTensor x = random_tensor(random_, dtype(), s.shape()), y = random_tensor(random_, dtype(), s.result_shape());
    expect_all(s, x, y);
  }
}

TEST_P(DenseOnCuda, LongRowsOfEveryStep) {
  for (const char* index : {":, ::2", ":, ::3", ":, ::4", ":, ::5", ":, ::-1", ":, ::-2", ":, ::-3", ":, 1::2",
                            ":, 5:-7", "1:2, 300:", "::2", "1", ":, 700", ":, 3:1500:7", "::-1, 64:128", "2:2"}) {
    for (std::int64_t columns : {1603, 1600}) {
      const Selection s = *Selection::from_index({3, columns}, index);
      expect_all(s, contiguous_tensor(random_, dtype(), s.shape()),
                 contiguous_tensor(random_, dtype(), s.result_shape()));
    }
  }
}

TEST_P(DenseOnCuda, ManySlicesThatMeetOrDoNot) {
  if (!has_zero(dtype()) || !can_add(dtype())) return;  // overlaps need an addition, and gaps need a zero
  for (int i = 0; i < 12; ++i) {
    Dims dims;
    for (std::size_t rank = 1 + random_() % 3; rank > 0; --rank)
      dims.push_back(1 + static_cast<std::int64_t>(random_() % 40));
    const Shape shape = *Shape::make(dims);
    RandomTensor dst = i % 2 == 0 ? random_tensor(random_, dtype(), dims) : contiguous_tensor(random_, dtype(), dims);
    std::deque<RandomTensor> sources;
    std::vector<Selection> selections;
    for (std::size_t count = random_() % 70; count > 0; --count) {
      selections.push_back(random_slice_of(random_, shape));
      sources.push_back(random_tensor(random_, dtype(), selections.back().result_shape()));
      make_numbers(sources.back().memory, dtype());
    }
    for (Write write : {Write::Overwrite, Write::Accumulate}) {
      std::vector<std::byte> results[2];
      for (int b = 0; b < 2; ++b) {
        const Backend& backend = b == 0 ? cpu() : gpu();
        const Uploaded to = backend.upload(dst);
        std::deque<Uploaded> from;
        std::vector<SliceGradient> slices;
        for (std::size_t k = 0; k < sources.size(); ++k) {
          from.push_back(backend.upload(sources[k]));
          slices.push_back({selections[k], from.back().view});
        }
        const Status status = multi_slice_grad_into(dims, slices, to.view, write);
        ASSERT_TRUE(status.ok()) << status.to_string();
        results[b] = backend.download(to);
      }
      ASSERT_EQ(results[0], results[1]) << i << (write == Write::Accumulate ? " accumulated" : "");
    }
  }
}

TEST_P(DenseOnCuda, FormsThatMakeTheirResult) {
  const Selection s = *Selection::from_index({33, 65}, "1:30, ::2");
  if (!has_zero(dtype())) return;
  const RandomTensor dy = contiguous_tensor(random_, dtype(), s.result_shape());
  const RandomTensor x = contiguous_tensor(random_, dtype(), s.shape());
  std::vector<std::byte> results[2][4];
  for (int b = 0; b < 2; ++b) {
    const Backend& backend = b == 0 ? cpu() : gpu();
    const Uploaded in = backend.upload(dy), from = backend.upload(x);
    const auto dx = slice_grad(s, in.view);
    ASSERT_TRUE(dx.ok()) << dx.status().to_string();
    ASSERT_EQ(dx->device(), backend.device());
    results[b][0] = backend.download(dx->view());
    const Tensor y = slice(s, from.view).value();
    results[b][1] = backend.download(y.view());
    const SliceGradient slices[] = {{s, in.view}};
    const Tensor sum = multi_slice_grad({33, 65}, slices).value();
    results[b][2] = backend.download(sum.view());
    const auto prepared = PreparedSlice::make(s, dtype());
    const Tensor out = Tensor::make(dtype(), s.shape(), 0, Contents::Uninitialised, backend.allocator()).value();
    Tensor writable = out;
    ASSERT_TRUE(prepared->gradient(in.view, writable.view()).ok());
    results[b][3] = backend.download(out.view());
  }
  for (int i = 0; i < 4; ++i) EXPECT_EQ(results[0][i], results[1][i]) << i;
}

TEST_P(DenseOnCuda, GradBuffersKeepTheirRegions) {
  if (!has_zero(dtype()) || !can_add(dtype())) return;
  const Shape shape = *Shape::make({20, 30});
  auto on_cpu = GradBuffer::make(dtype(), shape).value();
  auto on_gpu = GradBuffer::make(dtype(), shape, 0, {.allocator = &gpu().allocator()}).value();
  for (int i = 0; i < 20; ++i) {
    const Selection s = random_slice_of(random_, shape);
    RandomTensor dy = random_tensor(random_, dtype(), s.result_shape());
    make_numbers(dy.memory, dtype());
    const Uploaded there = gpu().upload(dy);
    const bool adds = random_() % 3 != 0;
    ASSERT_TRUE((adds ? on_cpu.add(s, dy.view) : on_cpu.write(s, dy.view)).ok());
    const Status status = adds ? on_gpu.add(s, there.view) : on_gpu.write(s, there.view);
    ASSERT_TRUE(status.ok()) << status.to_string();
    ASSERT_EQ(cpu().download(on_cpu.view()), gpu().download(on_gpu.view())) << i;
    if (random_() % 5 == 0) {
      ASSERT_TRUE(on_cpu.zero().ok() && on_gpu.zero().ok());
      ASSERT_EQ(cpu().download(on_cpu.view()), gpu().download(on_gpu.view())) << i;
    }
  }
}

std::vector<DType> dtypes() {
  std::vector<DType> list;
  for (DType dtype : all_dtypes()) {
    if (dtype != DType::String && dtype != DType::StringView && dtype != DType::Bytes) list.push_back(dtype);
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(DTypes, DenseOnCuda, ::testing::ValuesIn(dtypes()),
                         [](const auto& info) { return std::string(name(info.param)); });

// Items of 3 and 12 bytes, which are moved in units of 1 and 4.
TEST(DenseOnCuda, ItemsOfOtherSizes) {
  std::mt19937 random(42);
  for (std::int64_t size : {3, 12, 24, 100}) {
    const Selection s = *Selection::from_index({7, 41}, "1:6, ::-3");
    const auto tensor = [&](const Shape& shape) {
      RandomTensor made = contiguous_tensor(random, DType::Int8, {shape.elements() * size});
      made.view = View::contiguous(made.view.data, DType::Bytes, shape, size).value();
      return made;
    };
    const RandomTensor x = tensor(s.shape()), y = tensor(s.result_shape());
    expect_equal_on_both(x, y, [&](const View& out, const View& in) { return slice_grad_into(s, in, out); });
    expect_equal_on_both(y, x, [&](const View& out, const View& in) { return slice_into(s, in, out); });
    expect_equal_on_both(x, y, [&](const View& out, const View& in) {
      const SliceGradient slices[] = {{s, in}};
      return multi_slice_grad_into(s.shape(), slices, out);
    });
  }
}

// If strides cannot express ONNX Runtime's gradient of another shape, it is copied on the device.
TEST(DenseOnCuda, OnnxGradientsOfAnotherShape) {
  std::mt19937 random(43);
  const OnnxSlice spec{.starts = {1}, .ends = {4}, .axes = std::vector<std::int64_t>{0}, .steps = {}};
  RandomTensor grad = contiguous_tensor(random, DType::Float32, std::vector<std::int64_t>{10, 3});
  grad.view = View::strided(grad.view.data, DType::Float32, {3, 10}, {4, 12}).value();
  const RandomTensor dx = contiguous_tensor(random, DType::Float32, std::vector<std::int64_t>{5, 5, 2});
  expect_equal_on_both(dx, grad,
                       [&](const View& out, const View& in) { return onnx_slice_grad_into(in, {5, 5, 2}, spec, out); });
}

}  // namespace
}  // namespace backslice
