#include "backslice/backslice.h"
#include "faults/fault_injection.h"

#ifdef BACKSLICE_FAULT_INJECTION

namespace backslice {
namespace {

using namespace testing;

constexpr std::int64_t kRows = 400, kColumns = 400;  // 640 kB: more than one piece
const Selection& corner() {
  static const Selection selection = selection_of({kRows, kColumns}, "1:-1, ::2");
  return selection;
}

std::vector<Operation> dense_operations() {
  const auto dy = std::make_shared<std::vector<float>>(counting<float>(corner().result_shape().elements()));
  const auto x = std::make_shared<std::vector<float>>(counting<float>(kRows * kColumns));
  const auto pool = [] { return std::shared_ptr<Executor>(make_thread_executor(3)); };
  const auto gradient = [dy] { return slice_grad(corner(), view_of(*dy, corner().result_shape())).value(); };
  const auto expected = std::make_shared<std::vector<float>>(elements<float>(gradient()));
  // Into memory that is zero, where all of them come to the same.
  const auto into = [=](Write write) {
    return [=] {
      const auto out = std::make_shared<std::vector<float>>(x->size());
      return Attempt{[=, threads = pool()] {
                       return slice_grad_into(corner(), view_of(*dy, corner().result_shape()),
                                              view_of(*out, {kRows, kColumns}), write, {.executor = threads.get()});
                     },
                     [=] { EXPECT_EQ(*out, *expected); }};
    };
  };
  return {
      {"slice",
       [=] {
         return Attempt{[=, threads = pool()] {
           return status_of(slice(corner(), view_of(*x, {kRows, kColumns}), {.executor = threads.get()}));
         }};
       }},
      {"slice_grad",
       [=] {
         return Attempt{[=, threads = pool()] {
           return status_of(slice_grad(corner(), view_of(*dy, corner().result_shape()), {.executor = threads.get()}));
         }};
       }},
      {"slice_grad_into", into(Write::Overwrite)},
      {"slice_grad_into_zeros", into(Write::IntoZeros)},
      {"accumulate", into(Write::Accumulate)},
      {"few_pages",
       [=] {
         return Attempt{[=, few = selection_of({1 << 20}, "5:8")] {
           return status_of(slice_grad(few, *ConstView::contiguous(x->data(), DType::Float32, {3})));
         }};
       }},
      {"from_tf",
       [=] {
         const TfSlice spec{{1, 1}, {2, 2}, {1, 1}};
         return Attempt{[=] {
           return status_of(
               strided_slice_grad({4, 5}, spec, *ConstView::contiguous(x->data(), DType::Float32, {1, 1})));
         }};
       }},
      {"from_onnx_with_another_shape",
       [=] {
         const OnnxSlice spec{{0}, {1}};
         return Attempt{[=] {
           const auto odd = *ConstView::strided(x->data(), DType::Float32, {2, 3}, {4, 40});
           return status_of(onnx_slice_grad(odd, {4, 6}, spec));
         }};
       }},
      {"refused_text", [] { return Attempt{[] { return parse_index("1:2, what is this, ::2").status(); }}; }},
      {"refused_shape",
       [=] {
         return Attempt{
             [=] { return status_of(slice_grad(corner(), *ConstView::contiguous(x->data(), DType::Float32, {7}))); }};
       }},
      {"restrict",
       [] {
         const std::vector<Range> box = {{3, 7}, {2, 300}}, outside = {{3, 7}, {2, 500}};
         return Attempt{[=] { return corner().restrict(box).ok() ? corner().restrict(outside).status() : Status(); }};
       }},
  };
}

std::vector<Operation> multi_operations() {
  const auto many = [](const char* step, std::optional<Write> write) {
    return [=] {
      const Shape shape = *Shape::make({64, 64, 48});
      const auto dys = std::make_shared<std::vector<std::vector<float>>>();
      const auto slices = std::make_shared<std::vector<SliceGradient>>();
      for (int t = 0; t < 20; ++t) {
        const auto index = parse_index(std::to_string(t) + ":" + std::to_string(t + 20) + step);
        const Selection s = *Selection::from_index(shape, *index);
        dys->push_back(counting<float>(s.result_shape().elements()));
        slices->push_back({s, view_of(dys->back(), s.result_shape())});
      }
      const auto out = std::make_shared<std::vector<float>>(shape.elements());
      const std::shared_ptr<Executor> threads = make_thread_executor(3);
      return Attempt{[=] {
        const Context context{.executor = threads.get()};
        (void)dys;
        return write ? multi_slice_grad_into(shape, *slices, view_of(*out, shape), *write, context)
                     : status_of(multi_slice_grad(shape, *slices, context));
      }};
    };
  };
  return {{"multi", many("", {})},
          {"multi_strided_into", many(":7, ::2", Write::Overwrite)},
          {"multi_strided_into_zeros", many(":7, ::2", Write::IntoZeros)},
          {"multi_accumulated", many("", Write::Accumulate)}};
}

INSTANTIATE_TEST_SUITE_P(Dense, FaultInjection, ::testing::ValuesIn(dense_operations()), name_of_operation);
INSTANTIATE_TEST_SUITE_P(Multi, FaultInjection, ::testing::ValuesIn(multi_operations()), name_of_operation);

}  // namespace
}  // namespace backslice

#endif
