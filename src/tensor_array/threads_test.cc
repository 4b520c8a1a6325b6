// Many threads on one array, for the thread sanitizer.
#include <thread>

#include "backslice/tensor_array.h"
#include "testing.h"

namespace backslice {
namespace {

const Context kSerial{.executor = &serial_executor()};

Tensor ones(std::initializer_list<std::int64_t> shape) {
  Tensor made = Tensor::make(DType::Int64, *Shape::make(shape)).value();
  for (std::int64_t& v : made.elements<std::int64_t>().value()) v = 1;
  return made;
}

TEST(TensorArrayThreads, SumsOfManyWritersAreExact) {
  TensorArray gradient = TensorArray::make(8, DType::Int64).value().grad("x").value();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        EXPECT_TRUE(gradient.write((i + t) % 8, ones({16}), kSerial).ok());
        if (i % 10 == 0) {
          EXPECT_TRUE(gradient.scatter({7, 0, 3}, ones({3, 16}), kSerial).ok());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::int64_t total = 0;
  Tensor all = gradient.stack(kSerial).value();
  for (std::int64_t v : all.elements<std::int64_t>().value()) total += v;
  EXPECT_EQ(total, 16 * (4 * 200 + 4 * 20 * 3));
}

TEST(TensorArrayThreads, EveryOperationAtOnce) {
  TensorArrayOptions options;
  options.dynamic_size = true;
  options.clear_after_read = false;
  TensorArray array = TensorArray::make(0, DType::Int64, options).value();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        const Status written =
            array.write(4 * i + t, ones({4}), kSerial);  // refused once a gradient has fixed the size
        EXPECT_TRUE(written.ok() || written.message().find("a fixed size") != std::string::npos);
        (void)array.size();
        (void)array.read(i, kSerial);
        (void)array.gather({0, i}, {}, kSerial);
        if (t == 3 && i == 50) (void)array.grad("x");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(array.close().ok());
}

}  // namespace
}  // namespace backslice
