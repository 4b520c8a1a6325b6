// backslice_unwritten: memory that the rest of the program writes completely. XLA itself would fill it first. Calls
// have different numbers, so that XLA does not merge two of them. Programs exported by version 0.2 call it.
#include "call.h"
#include "fresh_memory.h"
#include "handlers.h"

namespace backslice::jax {
namespace {

xla::ffi::Error unwritten(std::int64_t, xla::ffi::Result<xla::ffi::AnyBuffer> result) {
  return guarded([&] { expect_writes(result_of(result)); });
}

}  // namespace
}  // namespace backslice::jax

XLA_FFI_DEFINE_HANDLER_SYMBOL(backslice_unwritten, backslice::jax::unwritten,
                              xla::ffi::Ffi::Bind().Attr<std::int64_t>("number").Ret<xla::ffi::AnyBuffer>());
