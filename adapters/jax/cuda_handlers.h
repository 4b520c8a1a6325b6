// Additional exports of a library that is built with CUDA: handlers for that platform. python/backslice/jax/library.py
// registers those that it finds.
#pragma once

#include "backslice/export.h"
#include "xla/ffi/api/c_api.h"

extern "C" {

BACKSLICE_EXPORT XLA_FFI_Error* backslice_multi_slice_cuda(XLA_FFI_CallFrame* frame);
BACKSLICE_EXPORT XLA_FFI_Error* backslice_multi_slice_grad_cuda(XLA_FFI_CallFrame* frame);
BACKSLICE_EXPORT XLA_FFI_Error* backslice_multi_slice_add_cuda(XLA_FFI_CallFrame* frame);
BACKSLICE_EXPORT XLA_FFI_Error* backslice_sparse_slice_grad_cuda(XLA_FFI_CallFrame* frame);

/// Returns the size in bytes of the second result for the gradient of so many slices; -1 for invalid numbers.
BACKSLICE_EXPORT long long backslice_cuda_scratch(long long slices, int rank);

/// Returns the lowest compute capability with kernels, 90 for 9.0.
BACKSLICE_EXPORT int backslice_cuda_oldest();
}
