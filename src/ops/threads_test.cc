// Calls from many threads at once, on shared inputs: the thread sanitizer watches.
#include <thread>

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

TEST(Threads, ShareInputsAndSelections) {
  const Selection s = Selection::from_index({16, 16}, "1::3, ::-2").value();
  const auto dy = counting<float>(s.result_shape().elements());
  const ConstView view = view_of(dy, s.result_shape());
  Tensor expected = slice_grad(s, view).value();
  std::vector<std::thread> threads;
  std::vector<int> agree(8, 0);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        Tensor dx = slice_grad(s, view).value();
        agree[t] += elements<float>(dx) == elements<float>(expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(agree, std::vector<int>(8, 100));
}

TEST(Threads, FillDisjointPartsOfOneOutput) {
  std::vector<float> out(8 * 64, -1);
  const auto dy = counting<float>(32);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const View part = View::contiguous(out.data() + t * 64, DType::Float32, {64}).value();
      const TfSlice even{.begin = {0}, .end = {64}, .strides = {2}};
      EXPECT_TRUE(strided_slice_grad_into({64}, even, view_of(dy, {32}), part).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i], i % 2 == 0 ? static_cast<float>(i % 64 / 2 + 1) : 0.0f);
  }
}

TEST(Threads, BuffersAreSharedSafely) {
  const Tensor tensor = Tensor::make(DType::Float32, Shape::make({64}).value()).value();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([copy = tensor] {
      for (int i = 0; i < 100; ++i) {
        const Tensor again = copy;
        EXPECT_EQ(again.shape().rank(), 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tensor.buffer().use_count(), 1);
}

}  // namespace
}  // namespace backslice
