// Another thread changes index lists during a call. Any values may result, but no memory outside the arrays is
// accessed, and results contain no earlier contents of their memory.
#include <atomic>
#include <thread>

#include "backslice/sparse_slice.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

#ifndef __SANITIZE_THREAD__  // the races are intended

// Writes other indices into the list during its lifetime.
class Changer {
 public:
  explicit Changer(std::vector<std::int64_t>& list)
      : thread_([this, &list] {
          std::mt19937 random(7);
          while (!stop_) {
            for (int i = 0; i < 1000; ++i) {
              volatile std::int64_t& index = list[random() % list.size()];
              index = static_cast<std::int64_t>(random() % 64) - (random() % 97 == 0 ? (1LL << 62) : 0);
            }
          }
        }) {}
  ~Changer() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

TEST(SparseRaces, ChangingIndicesTouchNothingElse) {
  constexpr std::int64_t kRows = 60'000;
  std::vector<std::int64_t> input(kRows * 2), output(kRows);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<std::int64_t>(i / 2 % 64);
  for (std::size_t i = 0; i < output.size(); ++i) output[i] = static_cast<std::int64_t>(i / 2 % 32);
  const CooIndices in = CooIndices::from_matrix(view_of(input, {kRows, 2})).value();
  const CooIndices out = CooIndices::from_matrix(view_of(output, {kRows / 2, 2})).value();
  const auto values = counting<float>(kRows), grad = counting<float>(kRows / 2);
  const auto pool = make_thread_executor(3);
  const Context context{.executor = pool.get()};
  const Changer change_input(input), change_output(output);
  for (int i = 0; i < 30; ++i) {
    const MatchOrder order = i % 2 == 0 ? MatchOrder::InOrder : MatchOrder::Any;
    (void)sparse_slice_grad(view_of(grad, {kRows / 2}), in, {0, 0}, out, order, context);
    std::vector<float> dx(kRows);
    (void)sparse_slice_grad_into(view_of(grad, {kRows / 2}), in, {0, 0}, out, view_of(dx, {kRows}), order,
                                 Write::Overwrite, context);
    (void)sparse_slice_grad_by_size(view_of(grad, {kRows / 2}), in, {0, 0}, {32, 64}, context);
    auto y = sparse_slice(in, view_of(values, {kRows}), {64, 64}, {0, 0}, {32, 64}, context);
    ASSERT_TRUE(y.ok());
    for (float value : y->values.elements<float>().value()) ASSERT_TRUE(value >= 0 && value <= kRows);
  }
}

#endif

}  // namespace
}  // namespace backslice
