// backslice_multi_slice_grad_cuda: the sum of the gradients of slices of one tensor on a CUDA device.
// backslice_multi_slice_add_cuda: the same added to a tensor, which XLA passes as the result.
//
// For several slices, both have a second result: memory for the tables of the kernel. XLA may put a call into a CUDA
// graph, which runs later, several times: by then only the memory of its buffers still exists.
#include "backslice/cuda.h"
#include "backslice/multi_slice.h"
#include "call.h"
#include "core/errors.h"
#include "cuda_call.h"
#include "cuda_handlers.h"
#include "given_memory.h"

namespace backslice::jax {
namespace {

using Numbers = xla::ffi::Span<const std::int64_t>;

GivenMemory memory_of(const xla::ffi::RemainingRets& rets, Device device) {
  if (rets.size() < 2) return {nullptr, 0, device};
  const xla::ffi::AnyBuffer given = buffer_of(rets, 1);
  return {given.untyped_data(), static_cast<std::int64_t>(given.size_bytes()), device};
}

void fill(std::span<const SliceGradient> gradients, const View& dx, Write write, const Context& context) {
  if (gradients.size() == 1) {
    return check(slice_grad_into(gradients[0].selection, gradients[0].dy, dx, write, context));
  }
  check(multi_slice_grad_into(dx.shape(), gradients, dx, write, context));
}

xla::ffi::Error multi_slice_grad(CudaStream stream, Numbers slices, Numbers parts, xla::ffi::RemainingArgs dys,
                                 xla::ffi::RemainingRets rets) {
  return guarded([&] {
    const xla::ffi::AnyBuffer dx = buffer_of(rets, 0);
    if (dx.element_count() == 0) return;
    const Device device = device_of(dx);
    GivenMemory memory = memory_of(rets, device);
    fill(gradients_of(slices, parts, dys, device), unwrap(view_of(dx, "the result", device)), Write::Overwrite,
         context_of(stream, &memory));
  });
}

xla::ffi::Error multi_slice_add(CudaStream stream, Numbers slices, Numbers parts, xla::ffi::AnyBuffer sum,
                                xla::ffi::RemainingArgs dys, xla::ffi::RemainingRets rets) {
  return guarded([&] {
    const xla::ffi::AnyBuffer result = buffer_of(rets, 0);
    if (result.element_count() == 0) return;
    const Device device = device_of(result);
    const View out = unwrap(view_of(result, "the result", device));
    if (out.data != sum.untyped_data()) {  // if XLA does not let the two share their memory
      check(cuda_copy(out, unwrap(view_of(sum, "the sum", device)), stream));
    }
    GivenMemory memory = memory_of(rets, device);
    fill(gradients_of(slices, parts, dys, device), out, Write::Accumulate, context_of(stream, &memory));
  });
}

}  // namespace
}  // namespace backslice::jax

long long backslice_cuda_scratch(long long slices, int rank) {
  const auto bytes = backslice::multi_slice_grad_scratch(slices, rank);
  if (!bytes) return -1;
  return *bytes + backslice::Allocator::kAlignment;  // the memory may have any alignment
}

int backslice_cuda_oldest() { return BACKSLICE_OLDEST_CUDA_ARCHITECTURE; }

XLA_FFI_DEFINE_HANDLER_SYMBOL(backslice_multi_slice_grad_cuda, backslice::jax::multi_slice_grad,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<backslice::jax::CudaStreamOfCall>()
                                  .Attr<xla::ffi::Span<const std::int64_t>>("slices")
                                  .Attr<xla::ffi::Span<const std::int64_t>>("parts")
                                  .RemainingArgs()
                                  .RemainingRets(),
                              {xla::ffi::Traits::kCmdBufferCompatible});

XLA_FFI_DEFINE_HANDLER_SYMBOL(backslice_multi_slice_add_cuda, backslice::jax::multi_slice_add,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<backslice::jax::CudaStreamOfCall>()
                                  .Attr<xla::ffi::Span<const std::int64_t>>("slices")
                                  .Attr<xla::ffi::Span<const std::int64_t>>("parts")
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .RemainingArgs()
                                  .RemainingRets(),
                              {xla::ffi::Traits::kCmdBufferCompatible});
