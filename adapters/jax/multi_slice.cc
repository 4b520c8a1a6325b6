// backslice_multi_slice: slices of one tensor.
#include "backslice/slice.h"
#include "call.h"
#include "core/errors.h"
#include "handlers.h"
#include "pool_executor.h"
#include "selections.h"

namespace backslice::jax {
namespace {

// One task per slice if there are enough slices; otherwise each slice is cut into tasks.
void fill(std::span<const Selection> selections, const ConstView& x, std::span<const View> results, Executor& pool) {
  const bool are_many = std::ssize(selections) >= 2 * pool.concurrency();
  const Context context{.executor = are_many ? &serial_executor() : &pool};
  std::vector<Status> outcomes(selections.size());
  (are_many ? pool : serial_executor()).run(std::ssize(selections), [&](std::int64_t task) {
    const auto i = static_cast<std::size_t>(task);
    outcomes[i] = slice_into(selections[i], x, results[i], context);
  });
  for (const Status& outcome : outcomes) check(outcome);
}

xla::ffi::Error multi_slice(xla::ffi::ThreadPool threads, xla::ffi::Span<const std::int64_t> slices,
                            xla::ffi::AnyBuffer x, xla::ffi::RemainingRets rets) {
  return guarded([&] {
    const std::vector<Selection> selections = unwrap(read_selections({slices.begin(), slices.size()}));
    const std::vector<View> results = results_of(rets);
    if (results.size() != selections.size())
      refuse(invalid_argument("there are ", results.size(), " results, expected one per slice: ", selections.size()));
    PoolExecutor pool(threads);
    fill(selections, unwrap(view_of(x, "x")), results, pool);
  });
}

}  // namespace
}  // namespace backslice::jax

XLA_FFI_DEFINE_HANDLER_SYMBOL(backslice_multi_slice, backslice::jax::multi_slice,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Attr<xla::ffi::Span<const std::int64_t>>("slices")
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .RemainingRets());
