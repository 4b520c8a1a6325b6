// backslice_multi_slice_grad: the sum of the gradients of slices of one tensor. backslice_multi_slice_add: the same
// added to a tensor, which XLA passes as the result.
#include <cstring>

#include "backslice/multi_slice.h"
#include "call.h"
#include "core/errors.h"
#include "fresh_memory.h"
#include "handlers.h"
#include "pool_executor.h"

namespace backslice::jax {
namespace {

using Numbers = xla::ffi::Span<const std::int64_t>;

void fill(std::span<const SliceGradient> gradients, const View& dx, Write write, const xla::ffi::ThreadPool& threads) {
  PoolExecutor pool(threads);
  const Context context{.executor = &pool};
  if (gradients.size() == 1) {
    return check(slice_grad_into(gradients[0].selection, gradients[0].dy, dx, write, context));
  }
  check(multi_slice_grad_into(dx.shape(), gradients, dx, write, context));
}

xla::ffi::Error multi_slice_grad(xla::ffi::ThreadPool threads, Numbers slices, Numbers parts,
                                 xla::ffi::RemainingArgs dys, xla::ffi::Result<xla::ffi::AnyBuffer> dx) {
  return guarded([&] {
    const View out = result_of(dx);
    const std::vector<SliceGradient> gradients = gradients_of(slices, parts, dys);
    fill(gradients, out, write_of_gradients(gradients, out), threads);
  });
}

xla::ffi::Error multi_slice_add(xla::ffi::ThreadPool threads, Numbers slices, Numbers parts, xla::ffi::AnyBuffer sum,
                                xla::ffi::RemainingArgs dys, xla::ffi::Result<xla::ffi::AnyBuffer> result) {
  return guarded([&] {
    const View out = unwrap(view_of(*result, "the result"));
    if (out.data != sum.untyped_data()) {  // if XLA does not let the two share their memory
      std::memcpy(out.data, sum.untyped_data(), sum.size_bytes());
    }
    fill(gradients_of(slices, parts, dys), out, Write::Accumulate, threads);
  });
}

}  // namespace
}  // namespace backslice::jax

XLA_FFI_DEFINE_HANDLER_SYMBOL(backslice_multi_slice_grad, backslice::jax::multi_slice_grad,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Attr<xla::ffi::Span<const std::int64_t>>("slices")
                                  .Attr<xla::ffi::Span<const std::int64_t>>("parts")
                                  .RemainingArgs()
                                  .Ret<xla::ffi::AnyBuffer>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(backslice_multi_slice_add, backslice::jax::multi_slice_add,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Attr<xla::ffi::Span<const std::int64_t>>("slices")
                                  .Attr<xla::ffi::Span<const std::int64_t>>("parts")
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .RemainingArgs()
                                  .Ret<xla::ffi::AnyBuffer>());
