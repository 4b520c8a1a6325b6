// The exports of the library: one function per handler, which python/backslice/jax/library.py registers with XLA.
#pragma once

#include "backslice/export.h"
#include "xla/ffi/api/c_api.h"

extern "C" {

BACKSLICE_EXPORT XLA_FFI_Error* backslice_multi_slice(XLA_FFI_CallFrame* frame);
BACKSLICE_EXPORT XLA_FFI_Error* backslice_multi_slice_grad(XLA_FFI_CallFrame* frame);
BACKSLICE_EXPORT XLA_FFI_Error* backslice_multi_slice_add(XLA_FFI_CallFrame* frame);
BACKSLICE_EXPORT XLA_FFI_Error* backslice_shard_of_gradient(XLA_FFI_CallFrame* frame);
BACKSLICE_EXPORT XLA_FFI_Error* backslice_slices_of_shard(XLA_FFI_CallFrame* frame);
BACKSLICE_EXPORT XLA_FFI_Error* backslice_sparse_slice_grad(XLA_FFI_CallFrame* frame);
BACKSLICE_EXPORT XLA_FFI_Error* backslice_unwritten(XLA_FFI_CallFrame* frame);

/// The version of XLA's interface with which the handlers were compiled: 1000 * major + minor.
BACKSLICE_EXPORT int backslice_xla_interface();
}
