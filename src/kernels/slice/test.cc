// Every kernel that moves or adds slices runs this suite; ground truth is element by element, from the definition.
#include "core/visit_dtype.h"
#include "kernel_contexts.h"
#include "kernels/slice/device_rows.h"
#include "kernels/slice/kernel.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

// One dtype of each width; the moves know nothing else of it.
constexpr DType kWidths[] = {DType::Int8, DType::UInt16, DType::Float32, DType::Int64, DType::Complex128};

std::byte* in_copy(std::vector<std::byte>& copy, const RandomTensor& original, Ints index) {
  return copy.data() + (address(original.view, index) - original.memory.data());
}

// A kernel under test: the reference, or the fast one in one of its ways.
struct Kernel {
  std::string name;
  std::function<void(const Plan&, DType, std::byte*, const std::byte*)> overwrite, accumulate = nullptr;
};

// -- What the threads of a CUDA kernel do, one after the other, on the CPU

void fill_with(const cuda::FillVariant& variant, const cuda::DevicePlan& plan) {
  cuda::with_width_and_count(variant.width, variant.loops, [&]<int kWidth, int kLoops>() {
    const cuda::DevicePlan taken = variant.grain == cuda::Grain::Apart ? cuda::taken_of(plan) : cuda::DevicePlan();
    for (std::uint32_t item = 0; variant.grain == cuda::Grain::Apart && item < taken.items; ++item) {
      cuda::fill_item<kWidth, kLoops>(taken, item);
    }
    for (std::uint32_t part = 0; part < variant.parts(plan); ++part) {
      if (variant.grain == cuda::Grain::Apart) {
        cuda::clear_item<kWidth, kLoops>(plan, part);
      } else if (variant.grain == cuda::Grain::Chunk) {
        cuda::fill_part<kWidth, kLoops, cuda::Grain::Chunk>(plan, part);
      } else {
        cuda::fill_part<kWidth, kLoops, cuda::Grain::Item>(plan, part);
      }
    }
  });
}

// By threads that write `grain` each, where they can, and that know the number of loops or do not.
Kernel cuda_threads(const char* name, cuda::Grain grain, bool any_loops) {
  const auto overwrite = [=](const Plan& p, DType, std::byte* dst, const std::byte* src) {
    for (const cuda::DevicePlan& plan : cuda::device_plans(p, dst, src)) {
      const cuda::FillVariant* used = &cuda::fill_variant(plan);
      for (const cuda::FillVariant& variant : cuda::kFillVariants) {
        if (variant.grain == grain && any_loops == (variant.loops == 0) && variant.can_run(plan)) used = &variant;
      }
      fill_with(*used, plan);
    }
  };
  const auto accumulate = [=](const Plan& p, DType dtype, std::byte* dst, const std::byte* src) {
    const cuda::Addition addition = cuda::addition_of(dtype);
    for (const cuda::DevicePlan& plan : cuda::device_sums(p, dst, src)) {
      cuda::with_width_and_count(plan.width, any_loops ? 0 : plan.loops, [&]<int kWidth, int kLoops>() {
        for (std::uint32_t item = 0; item < plan.items; ++item) cuda::add_item<kWidth, kLoops>(plan, addition, item);
      });
    }
  };
  return {name, overwrite, accumulate};
}

std::vector<Kernel> all_kernels() {
  std::vector<Kernel> kernels = {{"reference", reference::overwrite, reference::accumulate},
                                 cuda_threads("cuda_apart", cuda::Grain::Apart, false),
                                 cuda_threads("cuda_apart_any_loops", cuda::Grain::Apart, true),
                                 cuda_threads("cuda_chunks", cuda::Grain::Chunk, false),
                                 cuda_threads("cuda_chunks_any_loops", cuda::Grain::Chunk, true),
                                 cuda_threads("cuda_items", cuda::Grain::Item, false),
                                 cuda_threads("cuda_items_any_loops", cuda::Grain::Item, true)};
  for (const KernelWay& way : kernel_ways()) {
    const KernelContext* context = &way.context;
    kernels.push_back({way.name,
                       [=](const Plan& p, DType t, std::byte* d, const std::byte* s) { fill(p, t, d, s, *context); },
                       [=](const Plan& p, DType t, std::byte* d, const std::byte* s) { add(p, t, d, s, *context); }});
    if (context->pieces > 1) continue;
    for (std::size_t i = 0; i < kFillWays; ++i) {
      const char* const names[kFillWays] = {"_nest", "_transposed", "_rows", "_boxes"};
      kernels.push_back({way.name + names[i], [=](const Plan& p, DType t, std::byte* d, const std::byte* s) {
                           fill(p, t, d, s, *context, static_cast<FillWay>(i));
                         }});
    }
    if (context->stores == Stores::Streaming) continue;
    kernels.push_back({way.name + "_small", [=](const Plan& p, DType t, std::byte* d, const std::byte* s) {
                         const auto small = small_fill(p);
                         small ? small->run(d, s, context->rows) : fill(p, t, d, s, *context);
                       }});
  }
  return kernels;
}

std::vector<Kernel> kernels_that_add() {
  std::vector<Kernel> kernels = all_kernels();
  std::erase_if(kernels, [](const Kernel& kernel) { return kernel.accumulate == nullptr; });
  return kernels;
}

class SliceKernel : public ::testing::TestWithParam<std::tuple<DType, Kernel>> {
 protected:
  // Runs the kernel on a case and compares every byte of the destination's memory, those between elements included.
  void expect_overwrite(const Selection& s, const RandomTensor& dst, const RandomTensor& src) {
    const auto& [dtype, kernel] = GetParam();
    const auto size = static_cast<std::size_t>(item_size(dtype));
    std::vector<std::byte> expected = dst.memory;
    for_each_index(s.shape(), [&](const std::vector<std::int64_t>& index) {
      std::memset(in_copy(expected, dst, index), 0, size);
    });
    for_each_index(s.result_shape(), [&](const std::vector<std::int64_t>& index) {
      std::memcpy(in_copy(expected, dst, input_index(s, index)), address(src.view, index), size);
    });
    for (Widen widen : {Widen::Yes, Widen::No}) {
      const Plan plan = plan_scatter(s, dst.view.layout, src.view.layout, widen);
      ASSERT_EQ(run_on_copy(dst, [&](const View& out) { kernel.overwrite(plan, dtype, out.data, src.view.data); }),
                expected)
          << s.explain() << to_string(plan);
    }
  }

  void expect_accumulate(const Selection& s, RandomTensor dst, RandomTensor src) {
    const auto& [dtype, kernel] = GetParam();
    remove_nans(dst.memory);
    remove_nans(src.memory);
    const View selected = select(s, dst.view);
    const std::ptrdiff_t offset = selected.data - dst.view.data;
    const Plan plan = plan_copy(selected.layout, src.view.layout, Widen::No);
    std::vector<std::byte> expected = dst.memory;
    visit_addable(dtype, [&]<class T>() {
      for_each_index(s.result_shape(), [&](const std::vector<std::int64_t>& index) {
        T sum, term;
        std::byte* p = in_copy(expected, dst, input_index(s, index));
        std::memcpy(&sum, p, sizeof(T));
        std::memcpy(&term, address(src.view, index), sizeof(T));
        sum = sum + term;
        std::memcpy(p, &sum, sizeof(T));
      });
    });
    const auto got =
        run_on_copy(dst, [&](const View& out) { kernel.accumulate(plan, dtype, out.data + offset, src.view.data); });
    ASSERT_EQ(got, expected) << s.explain() << to_string(plan);
  }
};

TEST_P(SliceKernel, OverwriteWritesEveryElementAndNothingBetween) {
  std::mt19937 random(6);
  const DType dtype = std::get<0>(GetParam());
  for (int i = 0; i < 300; ++i) {
    const Selection s = random_selection(random, 4);
    expect_overwrite(s, random_tensor(random, dtype, s.shape()), random_tensor(random, dtype, s.result_shape()));
  }
}

// Rows long enough for vectors, blocks and whole cache lines, of every step that has a form of its own.
TEST_P(SliceKernel, OverwriteWritesLongRows) {
  std::mt19937 random(7);
  const DType dtype = std::get<0>(GetParam());
  for (const char* index :
       {":, ::2", ":, ::3", ":, ::4", ":, ::5", ":, ::-1", ":, ::-2", ":, ::-3", ":, ::-4", ":, 1::2", ":, 5:-7",
        "1:2, 300:", "::2", "1", ":, 700", ":, 3:1500:7", "::-1, 64:128", "2:2"}) {
    const Selection s = *Selection::from_index({3, 1603}, index);
    expect_overwrite(s, contiguous_tensor(random, dtype, s.shape()),
                     contiguous_tensor(random, dtype, s.result_shape()));
  }
}

TEST_P(SliceKernel, OverwriteReadsStridedSources) {
  std::mt19937 random(8);
  const DType dtype = std::get<0>(GetParam());
  for (const char* index : {":, ::2", ":, ::3", ":, ::4", ":, ::5", ":, ::-1", ":, ::-2", "1, 3::4"}) {
    RandomTensor wide = contiguous_tensor(random, dtype, std::vector<std::int64_t>{3, 700});
    wide.view = select(*Selection::from_index({3, 700}, index), wide.view);
    const Selection all = Selection::all(wide.view.shape());
    expect_overwrite(all, contiguous_tensor(random, dtype, wide.view.shape()), wide);
  }
}

TEST_P(SliceKernel, OverwriteWritesManyShortRows) {
  std::mt19937 random(9);
  const DType dtype = std::get<0>(GetParam());
  for (std::int64_t extent = 1; extent <= 20; ++extent) {
    for (std::int64_t count = 1; count <= extent; count += 3) {
      const Selection s =
          *Selection::from_index({5, 100, extent}, {SliceRange{1, 4}, SliceRange{2, {}}, SliceRange{0, count}});
      expect_overwrite(s, contiguous_tensor(random, dtype, s.shape()),
                       contiguous_tensor(random, dtype, s.result_shape()));
    }
  }
}

// Rows of some kilobytes, of which the run begins and ends anywhere.
TEST_P(SliceKernel, OverwriteWritesRowsOfKilobytes) {
  std::mt19937 random(12);
  const DType dtype = std::get<0>(GetParam());
  for (const std::int64_t bytes : {528, 1024, 1040, 4096, 4112}) {
    const std::int64_t extent = bytes / item_size(dtype);
    for (std::int64_t start = 0; start < extent; start += 1 + extent / 5) {
      for (std::int64_t stop = start + 1; stop <= extent; stop += 1 + extent / 7) {
        const Selection s = *Selection::from_index({7, extent}, {SliceRange{1, 6}, SliceRange{start, stop}});
        expect_overwrite(s, contiguous_tensor(random, dtype, s.shape()),
                         contiguous_tensor(random, dtype, s.result_shape()));
      }
    }
  }
}

// Every number of items around one and two vectors, for every step that has a form of its own.
TEST_P(SliceKernel, OverwriteWritesTheLastItemsOfARow) {
  std::mt19937 random(13);
  const DType dtype = std::get<0>(GetParam());
  for (const std::int64_t step : {2, 3, 4, 5, -1, -2, -3, -4}) {
    for (std::int64_t count = 1; count <= 70; count += count < 20 ? 1 : 7) {
      const std::int64_t extent = (count - 1) * std::abs(step) + 1;
      const Selection s = *Selection::from_index({2, extent}, {SliceRange{}, SliceRange{{}, {}, step}});
      expect_overwrite(s, contiguous_tensor(random, dtype, s.shape()),
                       contiguous_tensor(random, dtype, s.result_shape()));
    }
  }
}

// Rows of whole cache lines, which are written without being composed first: the run begins and ends anywhere.
TEST_P(SliceKernel, OverwriteWritesShortRowsOfWholeLines) {
  std::mt19937 random(11);
  const DType dtype = std::get<0>(GetParam());
  const std::int64_t line = 64 / item_size(dtype);
  for (std::int64_t lines = 1; lines <= 8; lines += 3) {
    const std::int64_t extent = lines * line;
    for (std::int64_t start = 0; start < extent; start += 1 + extent / 5) {
      for (std::int64_t stop = start + 1; stop <= extent; stop += 1 + extent / 7) {
        const Selection s =
            *Selection::from_index({3, 20, extent}, {SliceRange{1, 3}, SliceRange{2, {}}, SliceRange{start, stop}});
        expect_overwrite(s, contiguous_tensor(random, dtype, s.shape()),
                         contiguous_tensor(random, dtype, s.result_shape()));
      }
    }
  }
}

// Little of a large destination, which is zeroed first.
TEST_P(SliceKernel, OverwriteWritesFewElementsOfMany) {
  std::mt19937 random(14);
  const DType dtype = std::get<0>(GetParam());
  for (const char* index : {"150, 800", "::50, 7:9", "299", ":, 1602", "3::7, 5::400"}) {
    const Selection s = *Selection::from_index({300, 1603}, index);
    expect_overwrite(s, contiguous_tensor(random, dtype, s.shape()),
                     contiguous_tensor(random, dtype, s.result_shape()));
  }
}

// A source whose lines run across the destination's: rows that lie far apart are written together.
TEST_P(SliceKernel, OverwriteWritesTransposedSources) {
  std::mt19937 random(15);
  const DType dtype = std::get<0>(GetParam());
  const auto expect = [&](const std::vector<std::int64_t>& extents, const char* index) {
    const Selection s = *Selection::from_index(extents, index);
    const std::vector<std::int64_t> shape(s.result_shape().begin(), s.result_shape().end());
    RandomTensor src = contiguous_tensor(random, dtype, std::vector<std::int64_t>(shape.rbegin(), shape.rend()));
    Layout& layout = src.view.layout;
    std::reverse(layout.strides.begin(), layout.strides.end());
    layout.shape = s.result_shape();
    expect_overwrite(s, contiguous_tensor(random, dtype, s.shape()), src);
  };
  for (const char* index : {"3:37, ::2, :", "::-1, 1::3, 4:20", "2::5, :, ::-1", "3:37, 50, :"}) {
    expect({40, 90, 33}, index);
  }
  // Short enough for a group of rows to be put together in the cache.
  for (const char* index : {":, :, 2", "::-1, ::2, 1:8", "50:450:3, :, :5"}) expect({600, 5, 9}, index);
}

class SliceSumKernel : public SliceKernel {};

TEST_P(SliceSumKernel, AddsToTheSelectedAndTouchesNothingElse) {
  std::mt19937 random(10);
  const DType dtype = std::get<0>(GetParam());
  for (int i = 0; i < 200; ++i) {
    const Selection s = random_selection(random, 4);
    expect_accumulate(s, random_tensor(random, dtype, s.shape()), random_tensor(random, dtype, s.result_shape()));
  }
  for (const char* index : {":", ":, 3:-5", ":, ::2", ":, ::-1"}) {
    const Selection s = *Selection::from_index({3, 321}, index);
    expect_accumulate(s, contiguous_tensor(random, dtype, s.shape()),
                      contiguous_tensor(random, dtype, s.result_shape()));
  }
}

const auto name_of = [](const auto& info) {
  return std::string(name(std::get<0>(info.param))) + "_" + std::get<1>(info.param).name;
};

INSTANTIATE_TEST_SUITE_P(Widths, SliceKernel,
                         ::testing::Combine(::testing::ValuesIn(kWidths), ::testing::ValuesIn(all_kernels())), name_of);
INSTANTIATE_TEST_SUITE_P(Widths, SliceSumKernel,
                         ::testing::Combine(::testing::ValuesIn(kWidths), ::testing::ValuesIn(kernels_that_add())),
                         name_of);

}  // namespace
}  // namespace backslice
