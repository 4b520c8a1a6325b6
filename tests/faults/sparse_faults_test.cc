#include "backslice/backslice.h"
#include "faults/fault_injection.h"

#ifdef BACKSLICE_FAULT_INJECTION

namespace backslice {
namespace {

using namespace testing;

constexpr std::int64_t kEntries = 40'000, kHalf = kEntries / 2;

// Fills `out` by call(out, context), whose result must be the same as without failures.
template <class T, class Call>
std::function<Attempt()> fills(std::int64_t count, const Call& call) {
  std::vector<T> expected(static_cast<std::size_t>(count));
  EXPECT_TRUE(call(expected, Context{}).ok());
  return [=] {
    const auto out = std::make_shared<std::vector<T>>(expected.size());
    const std::shared_ptr<Executor> threads = make_thread_executor(3);
    return Attempt{[=] { return call(*out, Context{.executor = threads.get()}); }, [=] { EXPECT_EQ(*out, expected); }};
  };
}

// Every operation that fills memory of the caller's, in every way of writing.
std::vector<Operation> sparse_into_operations() {
  struct Lists {
    std::vector<std::int64_t> input = counting<std::int64_t>(kEntries), output = counting<std::int64_t>(kHalf);
    std::vector<float> grad = counting<float>(kHalf), values = counting<float>(kEntries);
    CooIndices input_indices = CooIndices::from_matrix(view_of(input, {kEntries, 1})).value();
    CooIndices output_indices = CooIndices::from_matrix(view_of(output, {kHalf, 1})).value();
  };
  const auto lists = std::make_shared<Lists>();
  const auto in_order = [=](MatchOrder order, Write write) {
    return fills<float>(kEntries, [=](std::vector<float>& out, const Context& context) {
      return sparse_slice_grad_into(view_of(lists->grad, {kHalf}), lists->input_indices, {0}, lists->output_indices,
                                    view_of(out, {kEntries}), order, write, context);
    });
  };
  const auto by_size = [=](Write write) {
    return fills<float>(kEntries, [=](std::vector<float>& out, const Context& context) {
      return sparse_slice_grad_by_size_into(view_of(lists->grad, {kHalf}), lists->input_indices, {7}, {kHalf},
                                            view_of(out, {kEntries}), write, context);
    });
  };
  std::vector<Operation> all = {
      {"sparse_slice_count", fills<std::int64_t>(1,
                                                 [=](std::vector<std::int64_t>& out, const Context& context) {
                                                   auto count =
                                                       sparse_slice_count(lists->input_indices, {7}, {kHalf}, context);
                                                   if (count.ok()) out[0] = *count;
                                                   return status_of(std::move(count));
                                                 })},
      {"sparse_slice_into_values", fills<float>(kHalf,
                                                [=, indices = std::make_shared<std::vector<std::int64_t>>(kHalf)](
                                                    std::vector<float>& out, const Context& context) {
                                                  return status_of(sparse_slice_into(
                                                      lists->input_indices, view_of(lists->values, {kEntries}),
                                                      {kEntries}, {7}, {kHalf}, view_of(*indices, {kHalf, 1}),
                                                      view_of(out, {kHalf}), context));
                                                })},
      {"sparse_slice_into_indices", fills<std::int64_t>(kHalf,
                                                        [=, values = std::make_shared<std::vector<float>>(kHalf)](
                                                            std::vector<std::int64_t>& out, const Context& context) {
                                                          return status_of(sparse_slice_into(
                                                              lists->input_indices, view_of(lists->values, {kEntries}),
                                                              {kEntries}, {7}, {kHalf}, view_of(out, {kHalf, 1}),
                                                              view_of(*values, {kHalf}), context));
                                                        })},
  };
  for (const auto& [name, write] : {std::pair("", Write::Overwrite), std::pair("_zeros", Write::IntoZeros),
                                    std::pair("_accumulated", Write::Accumulate)}) {
    all.push_back({std::string("sparse_in_order_into") + name, in_order(MatchOrder::InOrder, write)});
    all.push_back({std::string("sparse_any_order_into") + name, in_order(MatchOrder::Any, write)});
    all.push_back({std::string("sparse_by_size_into") + name, by_size(write)});
  }
  return all;
}

std::vector<Operation> sparse_operations() {
  struct Lists {
    std::vector<std::int64_t> input, output;
    std::vector<float> grad, out;
  };
  const auto lists = std::make_shared<Lists>();
  for (std::int64_t i = 0; i < kEntries; ++i) {
    lists->input.push_back(i);
    if (i % 2 == 0) lists->output.push_back(i);
  }
  lists->grad = counting<float>(kEntries / 2);
  lists->out.resize(kEntries);
  const auto input = [=] { return CooIndices::from_matrix(view_of(lists->input, {kEntries, 1})).value(); };
  const auto output = [=] { return CooIndices::from_matrix(view_of(lists->output, {kEntries / 2, 1})).value(); };
  const auto gradient = [=](MatchOrder order) {
    return [=] {
      const std::shared_ptr<Executor> threads = make_thread_executor(3);
      return Attempt{[=] {
        const Context context{.executor = threads.get()};
        const ConstView grad = view_of(lists->grad, {kEntries / 2});
        return status_of(sparse_slice_grad(grad, input(), {0}, output(), order, context));
      }};
    };
  };
  return {
      {"sparse_in_order", gradient(MatchOrder::InOrder)},
      {"sparse_any_order", gradient(MatchOrder::Any)},
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

INSTANTIATE_TEST_SUITE_P(SparseInto, FaultInjection, ::testing::ValuesIn(sparse_into_operations()), name_of_operation);
INSTANTIATE_TEST_SUITE_P(Sparse, FaultInjection, ::testing::ValuesIn(sparse_operations()), name_of_operation);

}  // namespace
}  // namespace backslice

#endif
