// backslice_multi_slice_cuda: slices of one tensor on a CUDA device.
#include "backslice/slice.h"
#include "call.h"
#include "core/errors.h"
#include "cuda_call.h"
#include "cuda_handlers.h"
#include "selections.h"

namespace backslice::jax {
namespace {

xla::ffi::Error multi_slice(CudaStream stream, xla::ffi::Span<const std::int64_t> slices, xla::ffi::AnyBuffer x,
                            xla::ffi::RemainingRets rets) {
  return guarded([&] {
    const std::vector<Selection> selections = unwrap(read_selections({slices.begin(), slices.size()}));
    if (rets.size() != selections.size())
      refuse(invalid_argument("there are ", rets.size(), " results, expected one per slice: ", selections.size()));
    if (x.element_count() == 0) return;
    const Device device = device_of(x);
    const ConstView from = unwrap(view_of(x, "x", device));
    for (std::size_t i = 0; i < selections.size(); ++i) {
      const View to = unwrap(view_of(buffer_of(rets, i), "a result", device));
      check(slice_into(selections[i], from, to, context_of(stream, nullptr)));
    }
  });
}

}  // namespace
}  // namespace backslice::jax

XLA_FFI_DEFINE_HANDLER_SYMBOL(backslice_multi_slice_cuda, backslice::jax::multi_slice,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<backslice::jax::CudaStreamOfCall>()
                                  .Attr<xla::ffi::Span<const std::int64_t>>("slices")
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .RemainingRets(),
                              {xla::ffi::Traits::kCmdBufferCompatible});
