// Many threads on containers and on the pool, for the thread sanitizer.
#include <thread>

#include "backslice/grad_buffer.h"
#include "backslice/ragged_slice.h"
#include "backslice/tensor_array_container.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

template <class Body>
void on_threads(int count, const Body& body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back([&, t] { body(t); });
  for (std::thread& thread : threads) thread.join();
}

TEST(ContainerThreads, BuffersOfTheirOwnShareThePool) {
  const auto pool = make_thread_executor(3);
  constexpr std::int64_t kRows = 512, kColumns = 512;  // enough for several pieces
  const auto dy = std::vector<float>(kRows * kColumns, 1);
  on_threads(3, [&](int) {
    GradBuffer buffer = GradBuffer::make(DType::Float32, {kRows, kColumns}).value();
    const Selection all = *Selection::from_index({kRows, kColumns}, ":");
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(buffer.write(all, view_of(dy, {kRows, kColumns}), {.executor = pool.get()}).ok());
      EXPECT_TRUE(buffer.add(all, view_of(dy, {kRows, kColumns}), {.executor = pool.get()}).ok());
    }
    EXPECT_EQ(reinterpret_cast<const float*>(buffer.view().data)[kRows * kColumns - 1], 2);
  });
}

TEST(ContainerThreads, NamesAreMadeFoundAndRemovedAtOnce) {
  TensorArrayContainer container;
  on_threads(4, [&](int t) {
    for (int i = 0; i < 100; ++i) {
      const TensorArray made = container.make(1, DType::Float32, {.name = "x"}).value();
      EXPECT_TRUE(container.find(made.name()).value().has_value());
      (void)container.names();
      if ((i + t) % 2 == 0) {
        EXPECT_TRUE(container.remove(made.name()).value());
      }
    }
  });
  EXPECT_EQ(container.names().value().size(), 4 * 50);
}

TEST(ContainerThreads, ManyReadOneRaggedTensor) {
  const auto pool = make_thread_executor(3);
  const RaggedTensor rt =
      RaggedTensor::make(tensor_of<float>({1, 2, 3, 4, 5, 6}, {6}), {tensor_of<std::int64_t>({0, 2, 2, 5, 6}, {5})})
          .value();
  const Selection reversed = *Selection::from_index({4}, "::-1");
  on_threads(4, [&](int) {
    for (int i = 0; i < 100; ++i) {
      Tensor values = ragged_slice(reversed, rt, {.executor = pool.get()}).value().values();
      EXPECT_EQ(elements<float>(values), (std::vector<float>{6, 3, 4, 5, 1, 2}));
    }
  });
}

TEST(ContainerThreads, ThePoolChangesWhileItIsUsed) {
  const int before = num_threads();
  on_threads(4, [&](int t) {
    for (int i = 0; i < 50; ++i) {
      if (t == 0) {
        EXPECT_TRUE(set_num_threads(2 + i % 4).ok());
      }
      std::atomic<int> total = 0;
      default_executor().run(20, [&](std::int64_t) { ++total; });
      EXPECT_EQ(total, 20);
    }
  });
  EXPECT_TRUE(set_num_threads(before).ok());
}

}  // namespace
}  // namespace backslice
