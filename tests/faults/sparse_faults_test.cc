#include "backslice/backslice.h"
#include "faults/fault_injection.h"

#ifdef BACKSLICE_FAULT_INJECTION

namespace backslice {
namespace {

using namespace testing;

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
        const Context context{.executor = threads.get()};
        const ConstView grad = view_of(lists->grad, {kEntries / 2});
        return into ? sparse_slice_grad_into(grad, input(), {0}, output(), view_of(lists->out, {kEntries}), order,
                                             Write::Overwrite, context)
                    : status_of(sparse_slice_grad(grad, input(), {0}, output(), order, context));
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

INSTANTIATE_TEST_SUITE_P(Sparse, FaultInjection, ::testing::ValuesIn(sparse_operations()), name_of_operation);

}  // namespace
}  // namespace backslice

#endif
