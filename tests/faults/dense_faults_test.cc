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
           const auto odd = *ConstView::strided(x->data(), {2, 3}, {1, 10});
           return status_of(onnx_slice_grad(odd, {4, 6}, spec));
         }};
       }},
      {"refused_text", [] { return Attempt{[] { return parse_index("1:2, what is this, ::2").status(); }}; }},
      {"refused_shape",
       [=] {
         return Attempt{
             [=] { return status_of(slice_grad(corner(), *ConstView::contiguous(x->data(), DType::Float32, {7}))); }};
       }},
      {"refused_on_a_device", [] { return Attempt{[] { return to_status({1, 1000, 2000}); }}; }},
      {"refused_scratch", [] { return Attempt{[] { return status_of(multi_slice_grad_scratch(-1, 1)); }}; }},
      {"located_in_an_index",
       [] {
         const auto index = std::make_shared<IndexText>(parse_index_text("1:3, 9").value());
         const Status error = Status(StatusCode::OutOfRange, "too far").at("index", 1);
         return Attempt{[=] { return index->located(error); }};
       }},
      {"located_in_a_slice",
       [] {
         const auto slice = std::make_shared<SliceText>(parse_slice(Dialect::Onnx, "starts=1 ends=3").value());
         const Status error = Status(StatusCode::OutOfRange, "too far").at("starts", 0);
         return Attempt{[=] { return slice->located(error); }};
       }},
      {"restrict",
       [] {
         const std::vector<Range> box = {{3, 7}, {2, 300}}, outside = {{3, 7}, {2, 500}};
         return Attempt{[=] { return corner().restrict(box).ok() ? corner().restrict(outside).status() : Status(); }};
       }},
  };
}

using Floats = std::vector<float>;

// Every operation that fills the caller's memory. Gradients are written into zeros, so that all ways of writing give
// the same result.
std::vector<Operation> into_operations() {
  const Shape x_shape = corner().shape(), y_shape = corner().result_shape();
  const auto memory = std::make_shared<std::pair<Floats, Floats>>(counting<float>(x_shape.elements()),
                                                                  counting<float>(y_shape.elements()));
  const ConstView x = view_of(memory->first, x_shape), dy = view_of(memory->second, y_shape);
  const ConstView flat_dy = view_of(memory->second, {y_shape.elements()});
  const TfSlice tf = corner().to_tf().value();
  const OnnxSlice onnx = corner().to_onnx().slice;
  const PreparedSlice prepared = PreparedSlice::make(corner(), DType::Float32).value();

  const auto fills = [memory](const Shape& shape, const Floats& expected, auto call) {
    return [=] {
      const auto out = std::make_shared<Floats>(expected.size());
      const std::shared_ptr<Executor> threads = make_thread_executor(3);
      const View view = view_of(*out, shape);
      return Attempt{[=] {
                       (void)memory;
                       return call(view, Context{.executor = threads.get()});
                     },
                     [=] { EXPECT_EQ(*out, expected); }};
    };
  };
  const auto forward = [&](auto call) { return fills(y_shape, elements<float>(slice(corner(), x).value()), call); };
  const auto gradient = [&](auto call) {
    return fills(x_shape, elements<float>(slice_grad(corner(), dy).value()), call);
  };

  std::vector<Operation> all = {
      {"slice_into", forward([=](const View& out, const Context& c) { return slice_into(corner(), x, out, c); })},
      {"strided_slice_into",
       forward([=](const View& out, const Context& c) { return strided_slice_into(x, tf, out, c); })},
      {"onnx_slice_into", forward([=](const View& out, const Context& c) { return onnx_slice_into(x, onnx, out, c); })},
      {"prepared_forward", forward([=](const View& out, const Context& c) { return prepared.forward(x, out, c); })},
      {"prepared_gradient", gradient([=](const View& out, const Context& c) { return prepared.gradient(dy, out, c); })},
      {"prepared_accumulate",
       gradient([=](const View& out, const Context& c) { return prepared.accumulate(dy, out, c); })},
  };
  for (const auto& [suffix, write] : {std::pair("", Write::Overwrite), std::pair("_zeros", Write::IntoZeros),
                                      std::pair("_accumulated", Write::Accumulate)}) {
    const std::string name = suffix;
    all.push_back({"slice_grad_into" + name, gradient([=, w = write](const View& out, const Context& c) {
                     return slice_grad_into(corner(), dy, out, w, c);
                   })});
    all.push_back({"strided_slice_grad_into" + name, gradient([=, w = write](const View& out, const Context& c) {
                     return strided_slice_grad_into({kRows, kColumns}, tf, dy, out, w, c);
                   })});
    all.push_back({"onnx_slice_grad_into" + name, gradient([=, w = write](const View& out, const Context& c) {
                     return onnx_slice_grad_into(flat_dy, {kRows, kColumns}, onnx, out, w, c);
                   })});
  }
  return all;
}

// Operations that make their result, and operations that only describe it.
std::vector<Operation> making_operations() {
  const auto x = std::make_shared<Floats>(counting<float>(kRows * kColumns));
  const auto makes = [x](auto call) {
    return [=] {
      const std::shared_ptr<Executor> threads = make_thread_executor(3);
      const ConstView view = view_of(*x, {kRows, kColumns});
      return Attempt{[=] {
        (void)x;
        return status_of(call(view, Context{.executor = threads.get()}));
      }};
    };
  };
  const TfSlice tf = corner().to_tf().value();
  const OnnxSlice onnx = corner().to_onnx().slice;
  return {
      {"strided_slice", makes([=](const ConstView& v, const Context& c) { return strided_slice(v, tf, c); })},
      {"onnx_slice", makes([=](const ConstView& v, const Context& c) { return onnx_slice(v, onnx, c); })},
      {"prepared_make",
       makes([](const ConstView&, const Context&) { return PreparedSlice::make(corner(), DType::Float32); })},
      {"slice_grad_cost",
       makes([](const ConstView&, const Context&) { return slice_grad_cost(corner(), DType::Float32); })},
  };
}

Operation writes_of(const char* name, bool into) {
  return {name, [=] {
            const Shape shape = *Shape::make({64, 64, 48});
            const auto base = std::make_shared<std::vector<float>>(counting<float>(shape.elements()));
            const auto dy = std::make_shared<std::vector<float>>(counting<float>(64 * 9 * 24));
            const auto out = std::make_shared<std::vector<float>>(shape.elements());
            std::vector<SliceGradient> slices = {{Selection::all(shape), view_of(*base, shape)}};
            for (std::int64_t t = 0; t < 20; ++t) {
              const Index index = {SliceRange{}, SliceRange{t, t + 9}, SliceRange{{}, {}, 2}};
              slices.push_back({*Selection::from_index(shape, index), view_of(*dy, {64, 9, 24})});
            }
            const std::shared_ptr<Executor> threads = make_thread_executor(3);
            return Attempt{[=] {
              const Context context{.executor = threads.get()};
              (void)base, (void)dy;
              return into ? multi_slice_write_into(shape, slices, view_of(*out, shape), context)
                          : status_of(multi_slice_write(shape, slices, context));
            }};
          }};
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
          {"multi_accumulated", many("", Write::Accumulate)},
          writes_of("writes", false),
          writes_of("writes_into", true)};
}

INSTANTIATE_TEST_SUITE_P(Dense, FaultInjection, ::testing::ValuesIn(dense_operations()), name_of_operation);
INSTANTIATE_TEST_SUITE_P(DenseInto, FaultInjection, ::testing::ValuesIn(into_operations()), name_of_operation);
INSTANTIATE_TEST_SUITE_P(DenseMade, FaultInjection, ::testing::ValuesIn(making_operations()), name_of_operation);
INSTANTIATE_TEST_SUITE_P(Multi, FaultInjection, ::testing::ValuesIn(multi_operations()), name_of_operation);

}  // namespace
}  // namespace backslice

#endif
