// backslice_sparse_slice_grad_cuda: the gradient of the values of a sparse tensor that was sliced, on a CUDA device.
//
// It waits for the device: for the numbers in input_start, and for the check that all gradients were used. So XLA must
// not put it into a CUDA graph.
#include <algorithm>

#include "backslice/cuda.h"
#include "backslice/sparse_slice.h"
#include "call.h"
#include "core/errors.h"
#include "cuda_call.h"
#include "cuda_handlers.h"
#include "scratch_memory.h"

namespace backslice::jax {
namespace {

template <class T>
std::vector<std::int64_t> numbers_on(const ConstView& list, CudaStream stream) {
  std::vector<T> numbers(static_cast<std::size_t>(list.elements()));
  check(cuda_copy(unwrap(View::of(numbers, list.shape())), list, stream));
  check(cuda_synchronize(list.device.ordinal, stream));
  return {numbers.begin(), numbers.end()};
}

std::vector<std::int64_t> integers(const ConstView& list, CudaStream stream) {
  if (list.elements() == 0) return {};
  return list.dtype == DType::Int32 ? numbers_on<std::int32_t>(list, stream) : numbers_on<std::int64_t>(list, stream);
}

xla::ffi::Error sparse_slice_grad(CudaStream stream, xla::ffi::ScratchAllocator scratch, bool in_order,
                                  xla::ffi::AnyBuffer grad, xla::ffi::AnyBuffer input_indices,
                                  xla::ffi::AnyBuffer input_start, xla::ffi::AnyBuffer output_indices,
                                  xla::ffi::Result<xla::ffi::AnyBuffer> values) {
  return guarded([&] {
    const xla::ffi::AnyBuffer& anywhere = input_indices.element_count() > 0 ? input_indices : grad;
    if (anywhere.element_count() == 0 && values->element_count() == 0) return;
    const Device device = device_of(anywhere.element_count() > 0 ? anywhere : *values);
    ScratchMemory memory(scratch, device);
    const auto view = [&](const xla::ffi::AnyBuffer& buffer, const char* name) {
      return unwrap(view_of(buffer, name, device));
    };
    check(sparse_slice_grad_into(
        view(grad, "backprop_val_grad"),
        unwrap(CooIndices::from_matrix(view(input_indices, "input_indices"), "input_indices")),
        integers(view(input_start, "input_start"), stream),
        unwrap(CooIndices::from_matrix(view(output_indices, "output_indices"), "output_indices")),
        view(*values, "the result"), in_order ? MatchOrder::InOrder : MatchOrder::Any, Write::Overwrite,
        context_of(stream, &memory)));
  });
}

}  // namespace
}  // namespace backslice::jax

XLA_FFI_DEFINE_HANDLER_SYMBOL(backslice_sparse_slice_grad_cuda, backslice::jax::sparse_slice_grad,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<backslice::jax::CudaStreamOfCall>()
                                  .Ctx<xla::ffi::ScratchAllocator>()
                                  .Attr<bool>("in_order")
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>());
