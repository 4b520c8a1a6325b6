// Slices of a tensor that is sharded among devices. The first argument has the numbers of the shard along the axes.
//
// backslice_shard_of_gradient: the shard of the sum of the gradients of slices, whose dy's are complete.
// backslice_slices_of_shard: slices with zeros for elements of other shards.
#include "backslice/multi_slice.h"
#include "box.h"
#include "call.h"
#include "core/errors.h"
#include "fresh_memory.h"
#include "handlers.h"
#include "pool_executor.h"
#include "selections.h"

namespace backslice::jax {
namespace {

using Numbers = xla::ffi::Span<const std::int64_t>;
using ShardNumbers = xla::ffi::Buffer<xla::ffi::S32>;

std::vector<Range> box(const Selection& of, const Shape& local, const ShardNumbers& shard) {
  return unwrap(box_of(of.shape(), local, {shard.typed_data(), shard.element_count()}));
}

void check_count(std::size_t given, std::size_t slices) {
  if (given != slices || slices == 0)
    refuse(invalid_argument("there are ", given, " arrays, expected one per slice: ", slices));
}

xla::ffi::Error shard_of_gradient(xla::ffi::ThreadPool threads, Numbers slices, ShardNumbers shard,
                                  xla::ffi::RemainingArgs dys, xla::ffi::Result<xla::ffi::AnyBuffer> dx) {
  return guarded([&] {
    const std::vector<Selection> selections = unwrap(read_selections({slices.begin(), slices.size()}));
    const std::vector<ConstView> views = views_of(dys, "dy");
    check_count(views.size(), selections.size());
    const View out = result_of(dx);
    const std::vector<Range> ours = box(selections[0], out.shape(), shard);
    std::vector<SliceGradient> gradients;
    for (std::size_t i = 0; i < views.size(); ++i) {
      const auto part = unwrap(selections[i].restrict(ours));
      if (part) gradients.push_back({part->selection, select(part->dy, views[i])});
    }
    PoolExecutor pool(threads);
    const Write write = write_of_gradients(gradients, out);
    check(multi_slice_grad_into(out.shape(), gradients, out, write, {.executor = &pool}));
  });
}

xla::ffi::Error slices_of_shard(xla::ffi::ThreadPool threads, Numbers slices, ShardNumbers shard, xla::ffi::AnyBuffer x,
                                xla::ffi::RemainingRets rets) {
  return guarded([&] {
    const std::vector<Selection> selections = unwrap(read_selections({slices.begin(), slices.size()}));
    const std::vector<View> results = results_of(rets);
    check_count(results.size(), selections.size());
    const ConstView local = unwrap(view_of(x, "x"));
    const std::vector<Range> ours = box(selections[0], local.shape(), shard);
    PoolExecutor pool(threads);
    for (std::size_t i = 0; i < results.size(); ++i) {
      std::vector<SliceGradient> taken;  // none if the slice selects nothing of this shard
      if (const auto part = unwrap(selections[i].restrict(ours))) {
        taken.push_back({part->dy, select(part->selection, local)});
      }
      check(multi_slice_grad_into(results[i].shape(), taken, results[i], Write::Overwrite, {.executor = &pool}));
    }
  });
}

}  // namespace
}  // namespace backslice::jax

XLA_FFI_DEFINE_HANDLER_SYMBOL(backslice_shard_of_gradient, backslice::jax::shard_of_gradient,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Attr<xla::ffi::Span<const std::int64_t>>("slices")
                                  .Arg<xla::ffi::Buffer<xla::ffi::S32>>()
                                  .RemainingArgs()
                                  .Ret<xla::ffi::AnyBuffer>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(backslice_slices_of_shard, backslice::jax::slices_of_shard,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Attr<xla::ffi::Span<const std::int64_t>>("slices")
                                  .Arg<xla::ffi::Buffer<xla::ffi::S32>>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .RemainingRets());
