// What the library exports beside handlers.h where it is built with CUDA: handlers for that platform.
// python/backslice/jax/library.py registers those that it finds.
#pragma once

#include "backslice/export.h"
#include "xla/ffi/api/c_api.h"

extern "C" {

BACKSLICE_EXPORT XLA_FFI_Error* backslice_multi_slice_cuda(XLA_FFI_CallFrame* frame);
BACKSLICE_EXPORT XLA_FFI_Error* backslice_multi_slice_grad_cuda(XLA_FFI_CallFrame* frame);
BACKSLICE_EXPORT XLA_FFI_Error* backslice_multi_slice_add_cuda(XLA_FFI_CallFrame* frame);
BACKSLICE_EXPORT XLA_FFI_Error* backslice_sparse_slice_grad_cuda(XLA_FFI_CallFrame* frame);

/// How many bytes the second result of a gradient of so many slices must have; -1 for numbers that make no sense.
BACKSLICE_EXPORT long long backslice_cuda_scratch(long long slices, int rank);

/// The lowest compute capability that there are kernels for, as 90 for 9.0.
BACKSLICE_EXPORT int backslice_cuda_oldest();
}
