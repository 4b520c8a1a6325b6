// backslice_sparse_slice_grad: the gradient of the values of a sparse tensor that was sliced.
#include "backslice/sparse_slice.h"
#include "call.h"
#include "core/errors.h"
#include "fresh_memory.h"
#include "handlers.h"
#include "pool_executor.h"

namespace backslice::jax {
namespace {

std::vector<std::int64_t> integers(const ConstView& list) {
  if (list.dtype == DType::Int32) {
    const auto elements = unwrap(list.elements<std::int32_t>());
    return {elements.begin(), elements.end()};
  }
  const auto elements = unwrap(list.elements<std::int64_t>());
  return {elements.begin(), elements.end()};
}

xla::ffi::Error sparse_slice_grad(xla::ffi::ThreadPool threads, bool in_order, xla::ffi::AnyBuffer grad,
                                  xla::ffi::AnyBuffer input_indices, xla::ffi::AnyBuffer input_start,
                                  xla::ffi::AnyBuffer output_indices, xla::ffi::Result<xla::ffi::AnyBuffer> values) {
  return guarded([&] {
    const ConstView rows = unwrap(view_of(input_indices, "input_indices"));
    const ConstView taken = unwrap(view_of(output_indices, "output_indices"));
    const View out = result_of(values);
    expect_writes(out);
    PoolExecutor pool(threads);
    check(sparse_slice_grad_into(
        unwrap(view_of(grad, "backprop_val_grad")), unwrap(CooIndices::from_matrix(rows, "input_indices")),
        integers(unwrap(view_of(input_start, "input_start"))), unwrap(CooIndices::from_matrix(taken, "output_indices")),
        out, in_order ? MatchOrder::InOrder : MatchOrder::Any, Write::Overwrite, {.executor = &pool}));
  });
}

}  // namespace
}  // namespace backslice::jax

XLA_FFI_DEFINE_HANDLER_SYMBOL(backslice_sparse_slice_grad, backslice::jax::sparse_slice_grad,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Attr<bool>("in_order")
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>());
