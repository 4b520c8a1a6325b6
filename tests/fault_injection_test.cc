// Every allocation and every new thread of every operation fails once. The operation must then say so, or do without,
// and leave everything as it was: the same call, tried again, gives what it would have given at first.
#include <memory>

#include "backslice/backslice.h"
#include "core/faults.h"
#include "testing.h"

#ifdef BACKSLICE_FAULT_INJECTION

namespace backslice {
namespace {

using namespace testing;

// One call on a state of its own. `check` looks at what the call has left behind when it succeeds.
struct Attempt {
  std::function<Status()> call;
  std::function<void()> check = [] {};
};

struct Operation {
  std::string name;
  std::function<Attempt()> prepare;
};

void PrintTo(const Operation& operation, std::ostream* stream) { *stream << operation.name; }

class FaultInjection : public ::testing::TestWithParam<Operation> {};

TEST_P(FaultInjection, EveryRequestMayFail) {
  const Status expected = GetParam().prepare().call();
  trim_pool();
  const std::int64_t in_use = pool_stats().bytes_in_use;
  for (std::int64_t n = 0; n < 10'000; ++n) {
    {
      Attempt attempt = GetParam().prepare();
      faults::strike_at(n);
      const Status status = attempt.call();
      const bool struck = faults::disarm();
      if (struck && status.code() == StatusCode::ResourceExhausted) {
        EXPECT_EQ(attempt.call().to_string(), expected.to_string()) << "tried again after request " << n << " failed";
      } else {
        EXPECT_EQ(status.to_string(), expected.to_string()) << "request " << n;
      }
      if (expected.ok()) attempt.check();
      if (!struck) return;
    }
    trim_pool();
    EXPECT_EQ(pool_stats().bytes_in_use, in_use) << "after request " << n << " failed";
  }
  FAIL() << "the operation never came to its end";
}

// Without a copy of the message, which could fail.
template <class T>
Status status_of(Result<T>&& result) {
  return std::move(result).status();
}

// ---- Dense

constexpr std::int64_t kRows = 400, kColumns = 400;  // 640 kB: more than one piece

// What a call uses is made before: nothing of the test itself may be what fails.
Selection selection_of(Ints shape, const char* index) { return *Selection::from_index(shape, *parse_index(index)); }

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
      {"slice_grad_into",
       [=] {
         const auto out = std::make_shared<std::vector<float>>(x->size());
         return Attempt{[=, threads = pool()] {
                          return slice_grad_into(corner(), view_of(*dy, corner().result_shape()),
                                                 view_of(*out, {kRows, kColumns}), {.executor = threads.get()});
                        },
                        [=] { EXPECT_EQ(*out, *expected); }};
       }},
      {"accumulate",
       [=] {
         const auto out = std::make_shared<std::vector<float>>(x->size());
         return Attempt{[=, threads = pool()] {
                          return slice_grad_into(corner(), view_of(*dy, corner().result_shape()),
                                                 view_of(*out, {kRows, kColumns}),
                                                 {.accumulate = true, .executor = threads.get()});
                        },
                        [=] { EXPECT_EQ(*out, *expected); }};
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
  const auto many = [](const char* step, bool into) {
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
        const Options options{.executor = threads.get()};
        (void)dys;
        return into ? multi_slice_grad_into(shape, *slices, view_of(*out, shape), options)
                    : status_of(multi_slice_grad(shape, *slices, options));
      }};
    };
  };
  return {{"multi", many("", false)}, {"multi_strided_into", many(":7, ::2", true)}};
}

std::vector<Operation> sparse_operations() {
  struct Lists {
    std::vector<std::int64_t> input, output;
    std::vector<float> grad, out;
  };
  constexpr std::int64_t kEntries = 40'000;
  const auto lists = std::make_shared<Lists>();
  for (std::int64_t i = 0; i < kEntries; ++i) {
    lists->input.push_back(i);
    if (i % 2 == 0) lists->output.push_back(i);
  }
  lists->grad = counting<float>(kEntries / 2);
  lists->out.resize(kEntries);
  const auto input = [=] { return CooIndices::from_matrix(view_of(lists->input, {kEntries, 1})).value(); };
  const auto output = [=] { return CooIndices::from_matrix(view_of(lists->output, {kEntries / 2, 1})).value(); };
  const auto gradient = [=](MatchOrder order, bool into) {
    return [=] {
      const std::shared_ptr<Executor> threads = make_thread_executor(3);
      return Attempt{[=] {
        SparseGradOptions options;
        options.order = order;
        options.executor = threads.get();
        const ConstView grad = view_of(lists->grad, {kEntries / 2});
        return into ? sparse_slice_grad_into(grad, input(), {0}, output(), view_of(lists->out, {kEntries}), options)
                    : status_of(sparse_slice_grad(grad, input(), {0}, output(), options));
      }};
    };
  };
  return {
      {"sparse_in_order", gradient(MatchOrder::InOrder, false)},
      {"sparse_in_order_into", gradient(MatchOrder::InOrder, true)},
      {"sparse_any_order", gradient(MatchOrder::Any, false)},
      {"sparse_any_order_into", gradient(MatchOrder::Any, true)},
      {"sparse_slice",
       [=] {
         return Attempt{[=] {
           return status_of(sparse_slice(input(), view_of(lists->out, {kEntries}), {kEntries}, {5}, {kEntries / 2}));
         }};
       }},
      {"sparse_by_size",
       [=] {
         return Attempt{[=] {
           const ConstView grad = view_of(lists->grad, {kEntries / 2});
           return status_of(sparse_slice_grad_by_size(grad, input(), {7}, {kEntries / 2}));
         }};
       }},
  };
}

// ---- Containers

std::vector<Operation> buffer_operations() {
  const auto selection = [](const char* text) { return selection_of({40, 8}, text); };
  const auto with = [=](const char* name, std::vector<const char*> before, const char* text) {
    return [=] {
      const auto buffer = std::make_shared<GradBuffer>(GradBuffer::make({40, 8}, DType::Float32).value());
      const auto plain = std::make_shared<std::vector<float>>(40 * 8);
      const auto term = [=](const char* index) { return counting<float>(selection(index).result_shape().elements()); };
      for (const char* index : before) {
        const auto dy = term(index);
        EXPECT_TRUE(buffer->add(selection(index), view_of(dy, selection(index).result_shape())).ok());
        EXPECT_TRUE(slice_grad_into(selection(index), view_of(dy, selection(index).result_shape()),
                                    view_of(*plain, {40, 8}), {.accumulate = true})
                        .ok());
      }
      const auto dy = std::make_shared<std::vector<float>>(term(text));
      const ConstView view = view_of(*dy, selection(text).result_shape());
      const bool adds = std::string_view(name).starts_with("add");
      if (!adds) std::fill(plain->begin(), plain->end(), 0.f);
      EXPECT_TRUE(slice_grad_into(selection(text), view, view_of(*plain, {40, 8}), {.accumulate = true}).ok());
      return Attempt{[=, s = selection(text)] { return adds ? buffer->add(s, view) : buffer->write(s, view); },
                     [=] {
                       (void)dy;
                       const auto* held = reinterpret_cast<const float*>(buffer->view().data);
                       EXPECT_EQ(std::vector<float>(held, held + plain->size()), *plain);
                     }};
    };
  };
  return {{"write", with("write", {"3:9", "20:30, ::2"}, "5:25")},
          {"add_apart", with("add", {"3:9"}, "20:30")},
          {"add_inside", with("add", {"3:30"}, "5:7")},
          {"add_across", with("add", {"3:9", "12:20, ::2"}, "5:25")}};
}

// What a gradient buffer holds after a failed addition, whatever failed, is what it held before.
TEST(FaultInjectionOfGradBuffer, AFailedAdditionChangesNothing) {
  const auto selection = [](const char* text) { return *Selection::from_index({40, 8}, *parse_index(text)); };
  const auto fill = [&](GradBuffer& buffer, const char* text) {
    const auto dy = counting<float>(selection(text).result_shape().elements());
    return buffer.add(selection(text), view_of(dy, selection(text).result_shape()));
  };
  for (std::int64_t n = 0; n < 1000; ++n) {
    GradBuffer buffer = GradBuffer::make({40, 8}, DType::Float32).value();
    ASSERT_TRUE(fill(buffer, "3:9").ok() && fill(buffer, "12:20, ::2").ok());
    const auto bytes = [&] {
      const ConstView view = buffer.view();
      return std::vector<std::byte>(view.data, view.data + view.elements() * 4);
    };
    const auto before = bytes();
    const auto dy = counting<float>(20 * 8);
    const Selection across = selection("5:25");
    faults::strike_at(n);
    const Status status = buffer.add(across, view_of(dy, {20, 8}));
    if (!faults::disarm()) return;
    if (!status.ok()) {
      EXPECT_TRUE(bytes() == before) << "request " << n;
    }
    ASSERT_TRUE(buffer.write(selection("0:0"), view_of(std::vector<float>(), {0, 8})).ok());  // clears what it knows of
    EXPECT_TRUE(bytes() == std::vector<std::byte>(before.size())) << "request " << n;
  }
  FAIL() << "the operation never came to its end";
}

Tensor row(float value) { return tensor_of<float>({value, value}, {2}); }

std::vector<Operation> array_operations() {
  const auto seven = row(7), four = tensor_of<float>({1, 1, 2, 2, 3, 3, 4, 4}, {4, 2}),
             three = tensor_of<float>({1, 1, 1, 1, 1, 1}, {3, 2}), vector = tensor_of<float>({1, 2, 3}, {3}),
             one = row(1);
  const std::vector<std::int64_t> apart = {2, 700, 3, 90}, lengths = {1, 0, 2}, backwards = {1, 0}, order = {1, 0, 2};
  const std::string source = "a source of some length", long_name = "a name of some length";
  const auto with = [](auto change, auto look) {
    return [=] {
      const auto array = std::make_shared<TensorArray>(
          TensorArray::make(4, DType::Float32, {.dynamic_size = true, .clear_after_read = false, .name = "steps"})
              .value());
      EXPECT_TRUE(array->write(0, row(1)).ok() && array->write(1, row(2)).ok());
      return Attempt{[=] { return change(*array); }, [=] { look(*array); }};
    };
  };
  const auto holds = [](std::int64_t index, float value) {
    return
        [=](TensorArray& array) { EXPECT_THAT(elements<float>(array.read(index).value()), ElementsAre(value, value)); };
  };
  const auto with_gradient = [](auto change) {
    return [=] {
      const auto array = std::make_shared<TensorArray>(TensorArray::make(3, DType::Float32).value());
      EXPECT_TRUE(array->unstack(tensor_of<float>({1, 2, 3, 4, 5, 6}, {3, 2})).ok());
      const auto gradient = std::make_shared<TensorArray>(array->grad("loss").value());
      for (int i = 0; i < 8; ++i) EXPECT_TRUE(gradient->write(0, row(1)).ok());
      return Attempt{[=] { return change(*gradient); },
                     [=] {
                       (void)array;
                       const auto sum = elements<float>(gradient->read(0).value());
                       EXPECT_EQ(sum[0], 9);
                     }};
    };
  };
  return {
      {"array_make",
       [=] {
         return Attempt{[options = TensorArrayOptions{.name = long_name}] {
           return TensorArray::make(5, DType::Float32, options).status();
         }};
       }},
      {"array_write", with([=](TensorArray& a) { return a.write(1'000, seven); }, holds(1'000, 7))},
      {"array_write_refused", with([=](TensorArray& a) { return a.write(0, seven); }, holds(0, 1))},
      {"array_scatter", with([=](TensorArray& a) { return a.scatter(apart, four); }, holds(700, 2))},
      {"array_split", with(
                          [=](TensorArray&) {
                            auto fresh = TensorArray::make(3, DType::Float32);
                            return fresh.ok() ? fresh->split(vector, lengths) : fresh.status();
                          },
                          holds(0, 1))},
      {"array_gather",
       with([=](TensorArray& a) { return a.gather(backwards, *PartialShape::make({2})).status(); }, holds(1, 2))},
      {"array_concat", with(
                           [](TensorArray& a) {
                             const Status status = a.concat().status();
                             return status.code() == StatusCode::InvalidArgument ? Status()
                                                                                 : status;  // two are not written
                           },
                           holds(1, 2))},
      {"array_grad", with([=](TensorArray& a) { return a.grad_with_shape(source, {3}).status(); },
                          [=](TensorArray& a) { EXPECT_TRUE(a.find_grad(source).has_value()); })},
      {"array_grad_write", with_gradient([=](TensorArray& g) { return g.write(0, one); })},
      {"array_grad_scatter", with_gradient([=](TensorArray& g) { return g.scatter(order, three); })},
      {"container",
       [] {
         const auto container = std::make_shared<TensorArrayContainer>();
         return Attempt{[=, options = TensorArrayOptions{.name = "a name of some length"}] {
                          return container->make(2, DType::Float32, options).status();
                        },
                        [=] { EXPECT_THAT(container->names(), ElementsAre("a name of some length_0")); }};
       }},
  };
}

std::vector<Operation> ragged_operations() {
  const auto splits = [] { return tensor_of<std::int64_t>({0, 2, 2, 5, 6}, {5}); };
  const auto ragged = [=] { return RaggedTensor::make(tensor_of<float>({1, 2, 3, 4, 5, 6}, {6}), {splits()}).value(); };
  const Selection reversed = selection_of({4}, "::-1"), last = selection_of({4}, "2:");
  const Tensor dy = tensor_of<float>({1, 2, 3, 4}, {4}), values = tensor_of<float>({1, 2, 3, 4, 5, 6}, {6});
  const auto operation = [](auto state, auto call) {
    return [=] {
      const auto made = std::make_shared<decltype(state())>(state());
      return Attempt{[=] { return call(*made); }};
    };
  };
  const auto pieces = [=] {
    std::vector<std::optional<RaggedTensor>> all;
    for (std::int64_t i = 0; i < 4; ++i) all.push_back(i == 1 ? std::nullopt : std::optional(*ragged().row(i)));
    return VariantArray::make(all, {4}).value();
  };
  return {
      {"ragged_make", operation([=] { return std::vector{splits()}; },
                                [=](const std::vector<Tensor>& s) { return RaggedTensor::make(values, s).status(); })},
      {"ragged_make_with_gaps",
       operation(
           [=] {
             const Tensor dense = splits();
             View view{const_cast<std::byte*>(dense.data()), DType::Int64, dense.view().layout};
             view.layout = *make_strided_layout(DType::Int64, {3}, {16}, 0);
             return std::vector{Tensor::of(dense.buffer(), view)};
           },
           [=](const std::vector<Tensor>& s) { return RaggedTensor::make(values, s).status(); })},
      {"ragged_slice", operation(ragged, [=](const RaggedTensor& rt) { return ragged_slice(rt, reversed).status(); })},
      {"ragged_slice_rows", operation(ragged, [](const RaggedTensor& rt) { return rt.slice_rows(1, 3).status(); })},
      {"ragged_slice_grad",
       operation(ragged, [=](const RaggedTensor& rt) { return ragged_slice_grad(rt, last, dy.view()).status(); })},
      {"ragged_encode",
       operation(ragged, [](const RaggedTensor& rt) { return ragged_tensor_to_variant(rt).status(); })},
      {"ragged_decode",
       operation(
           [=] {
             std::vector<std::optional<RaggedTensor>> all(3, ragged());
             return VariantArray::make(all, {3}).value();
           },
           [](const VariantArray& array) { return ragged_tensor_from_variant(array, 1, 2).status(); })},
      {"ragged_decode_gradient",
       operation(ragged,
                 [](const RaggedTensor& rt) { return ragged_tensor_from_variant_gradient(rt, {rt.rows()}).status(); })},
      {"ragged_gradient", operation(pieces,
                                    [lists = std::vector{splits()}](const VariantArray& array) {
                                      return ragged_tensor_to_variant_gradient(array, lists, {6}).status();
                                    })},
  };
}

const auto kName = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Dense, FaultInjection, ::testing::ValuesIn(dense_operations()), kName);
INSTANTIATE_TEST_SUITE_P(Multi, FaultInjection, ::testing::ValuesIn(multi_operations()), kName);
INSTANTIATE_TEST_SUITE_P(Sparse, FaultInjection, ::testing::ValuesIn(sparse_operations()), kName);
INSTANTIATE_TEST_SUITE_P(GradBuffer, FaultInjection, ::testing::ValuesIn(buffer_operations()), kName);
INSTANTIATE_TEST_SUITE_P(TensorArray, FaultInjection, ::testing::ValuesIn(array_operations()), kName);
INSTANTIATE_TEST_SUITE_P(Ragged, FaultInjection, ::testing::ValuesIn(ragged_operations()), kName);

}  // namespace
}  // namespace backslice

#endif
