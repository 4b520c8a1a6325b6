// Every kernel that moves or adds slices runs this suite; ground truth is element by element, from the definition.
#include "kernels/slice/reference.h"

#include "core/visit_dtype.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

// One dtype of each width; the moves know nothing else of it.
constexpr DType kWidths[] = {DType::Int8, DType::Float16, DType::Float32, DType::Float64, DType::Complex128};

// Runs the kernel on a copy of the destination's memory and returns it, so that bytes between elements are seen too.
template <class Kernel>
std::vector<std::byte> run(const RandomTensor& dst, Kernel kernel) {
  std::vector<std::byte> memory = dst.memory;
  kernel(memory.data() + (dst.view.data - dst.memory.data()));
  return memory;
}

std::byte* in_copy(std::vector<std::byte>& copy, const RandomTensor& original, Ints index) {
  return copy.data() + (address(original.view, index) - original.memory.data());
}

class SliceKernel : public ::testing::TestWithParam<DType> {};

TEST_P(SliceKernel, OverwriteWritesEveryElementAndNothingBetween) {
  std::mt19937 random(6);
  for (int i = 0; i < 400; ++i) {
    const Selection s = random_selection(random, 4);
    const RandomTensor dst = random_tensor(random, GetParam(), s.shape());
    const RandomTensor src = random_tensor(random, GetParam(), s.result_shape());
    const auto size = static_cast<std::size_t>(item_size(GetParam()));

    std::vector<std::byte> expected = dst.memory;
    for_each_index(s.shape(), [&](const std::vector<std::int64_t>& index) {
      std::memset(in_copy(expected, dst, index), 0, size);
    });
    for_each_index(s.result_shape(), [&](const std::vector<std::int64_t>& index) {
      std::memcpy(in_copy(expected, dst, input_index(s, index)), address(src.view, index), size);
    });

    for (Widen widen : {Widen::Yes, Widen::No}) {
      const Plan plan = plan_scatter(s, dst.view.layout, src.view.layout, widen);
      EXPECT_EQ(run(dst, [&](std::byte* p) { reference::overwrite(plan, GetParam(), p, src.view.data); }), expected)
          << s.explain() << to_string(plan);
    }
  }
}

TEST_P(SliceKernel, AccumulateAddsToTheSelectedAndTouchesNothingElse) {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    const Selection s = random_selection(random, 4);
    const RandomTensor dst = random_tensor(random, GetParam(), s.shape());
    const RandomTensor src = random_tensor(random, GetParam(), s.result_shape());

    std::vector<std::byte> expected = dst.memory;
    visit_addable(GetParam(), [&]<class T>() {
      for_each_index(s.result_shape(), [&](const std::vector<std::int64_t>& index) {
        T sum, term;
        std::byte* p = in_copy(expected, dst, input_index(s, index));
        std::memcpy(&sum, p, sizeof(T));
        std::memcpy(&term, address(src.view, index), sizeof(T));
        sum = sum + term;
        std::memcpy(p, &sum, sizeof(T));
      });
    });

    const View selected = select(s, dst.view);
    const std::ptrdiff_t offset = selected.data - dst.view.data;
    const Plan plan = plan_copy(selected.layout, src.view.layout, Widen::No);
    EXPECT_EQ(run(dst, [&](std::byte* p) { reference::accumulate(plan, GetParam(), p + offset, src.view.data); }),
              expected)
        << s.explain() << to_string(plan);
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, SliceKernel, ::testing::ValuesIn(kWidths),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace backslice
