// SparseSliceGrad: the gradient of the tensor's values from that of the slice's.
#include <limits>

#include "backslice/sparse_slice.h"
#include "core/errors.h"
#include "core/items.h"
#include "kernels/sparse/kernel.h"
#include "kernels/sparse/matcher.h"
#include "ops/call.h"
#include "ops/checks.h"
#include "sparse/checks.h"
#include "sparse/pieces.h"

namespace backslice {
namespace {

Status check_grad_dtype(const ConstView& grad, const char* argument, std::int64_t input_rows, Write write) {
  if (!are_bytes(grad.dtype)) return dtype_error(argument, ": strings have no gradient").at(argument);
  if (write == Write::Accumulate) return check_can_accumulate(grad.dtype, argument);
  if (has_zero(grad.dtype) || grad.shape()[0] == input_rows) return Status();
  return dtype_error(name(grad.dtype), " has no zero, and the gradient is zero in ",
                     counted(input_rows - grad.shape()[0], "row", "rows"), " that the slice does not hold")
      .at(argument);
}

// Checks in TensorFlow's order.
Status check_grad_arguments(const ConstView& grad, const CooIndices& input, Ints start, const CooIndices& output,
                            MatchOrder order, Write write) {
  BACKSLICE_RETURN_IF_ERROR(check_rows(grad, "backprop_val_grad"));
  if (input.rank() != output.rank()) {
    return invalid_argument("input_indices has ", counted(input.rank(), "column", "columns"),
                            ", but output_indices has ", output.rank())
        .at("output_indices");
  }
  if (input.dtype() != output.dtype()) {
    return dtype_error("input_indices has dtype ", name(input.dtype()), ", but output_indices has ",
                       name(output.dtype()))
        .at("output_indices");
  }
  if (output.rows() > input.rows()) {
    return invalid_argument("output_indices has ", counted(output.rows(), "row", "rows"),
                            ", more than input_indices, which has ", input.rows())
        .at("output_indices");
  }
  if (grad.shape()[0] != output.rows()) {
    return invalid_argument("backprop_val_grad has ", counted(grad.shape()[0], "row", "rows"),
                            ", but output_indices has ", output.rows())
        .at("backprop_val_grad");
  }
  BACKSLICE_RETURN_IF_ERROR(check_length(start, "input_start", input.rank(), "input_indices"));
  BACKSLICE_RETURN_IF_ERROR(check_input(grad, "backprop_val_grad", RunsOn::AnyDevice));
  BACKSLICE_RETURN_IF_ERROR(check_indices(input, "input_indices", grad.device, "backprop_val_grad"));
  BACKSLICE_RETURN_IF_ERROR(check_indices(output, "output_indices", grad.device, "backprop_val_grad"));
  if (order == MatchOrder::Any && output.rows() > std::numeric_limits<std::int32_t>::max()) {
    return unimplemented("order \"any\" takes at most 2**31 - 1 rows of output_indices, got ", output.rows())
        .at("order");
  }
  // The device sorts rows by numbers of 32 bits.
  if (order == MatchOrder::Any && !grad.device.is_cpu() && input.rows() > std::numeric_limits<std::uint32_t>::max()) {
    return unimplemented("order \"any\" takes at most 2**32 - 1 rows of input_indices on ", to_string(grad.device),
                         ", got ", input.rows())
        .at("order");
  }
  return check_grad_dtype(grad, "backprop_val_grad", input.rows(), write);
}

Status check_window_arguments(const ConstView& grad, const CooIndices& input, Ints start, Ints size, Write write) {
  BACKSLICE_RETURN_IF_ERROR(check_rows(grad, "grad"));
  BACKSLICE_RETURN_IF_ERROR(check_length(start, "start", input.rank(), "input_indices"));
  BACKSLICE_RETURN_IF_ERROR(check_size(size, input.rank(), "input_indices"));
  if (grad.shape()[0] > input.rows()) {
    return invalid_argument("grad has ", counted(grad.shape()[0], "row", "rows"),
                            ", more than input_indices, which has ", input.rows())
        .at("grad");
  }
  BACKSLICE_RETURN_IF_ERROR(check_input(grad, "grad", RunsOn::AnyDevice));
  BACKSLICE_RETURN_IF_ERROR(check_indices(input, "input_indices", grad.device, "grad"));
  return check_grad_dtype(grad, "grad", input.rows(), write);
}

// Returns the shape of the gradient, which may have more rows than `argument`.
Result<Shape> gradient_shape(const ConstView& grad, const char* argument, std::int64_t rows) {
  Dims dims(grad.shape());
  dims[0] = rows;
  const auto shape = Shape::make(dims, "the gradient's shape");
  if (!shape.ok()) return shape.status().at(argument);
  return shape;
}

Result<Tensor> make_gradient(const ConstView& grad, const char* argument, std::int64_t rows, const Call& call) {
  const auto shape = gradient_shape(grad, argument, rows);
  if (!shape.ok()) return shape.status();
  return call.allocate(grad.dtype, *shape, grad.layout.item_size);
}

Status check_grad_out(const View& out, const ConstView& grad, const CooIndices& input, const CooIndices* output,
                      const char* grad_argument) {
  const auto shape = gradient_shape(grad, grad_argument, input.rows());
  if (!shape.ok()) return shape.status();
  BACKSLICE_RETURN_IF_ERROR(check_output(out, *shape, grad, grad_argument));
  BACKSLICE_RETURN_IF_ERROR(check_apart(out, "out", input, "input_indices"));
  return output == nullptr ? Status() : check_apart(out, "out", *output, "output_indices");
}

Status left_over(std::int64_t rows, std::int64_t used) {
  return Status(
      StatusCode::Internal,
      join("Elements of backprop_val_grad aren't all propagated. Num elements:", rows, ", used: ", used, "; row ", used,
           " of output_indices, plus input_start, is ", "not among the rows of input_indices that are left"));
}

Status left_over_in_any_order(std::int64_t rows, std::int64_t used) {
  return Status(StatusCode::Internal,
                join("Elements of backprop_val_grad aren't all propagated. Num elements:", rows, ", used: ", used,
                     "; the others' indices, plus input_start, are not in input_indices"));
}

Status other_window(std::int64_t rows, std::int64_t found, Ints start, Ints size) {
  return invalid_argument("grad has ", counted(rows, "row", "rows"), ", but ", counted(found, "row", "rows"),
                          " of input_indices lie in the window from start ", start, " of size ", size)
      .at("grad");
}

KernelContext kernel_for(const View& out, const Call& call) {
  return call.kernel(out.elements() * out.layout.item_size);
}

// Writes the gradient in a second pass, when the pieces are known.
void write_pieces(const Matcher& matcher, SparsePieces& pieces, const ConstView& grad, const View& out, Write write,
                  const Call& call) {
  const KernelContext context = kernel_for(out, call);
  const auto write_piece = [&](SparsePiece& piece) {
    switch (write) {
      case Write::Accumulate: return add_gradient(matcher, piece.rows, piece.slice_rows(), grad, out, context);
      case Write::IntoZeros: return write_taken(matcher, piece.rows, piece.slice_rows(), grad, out);
      case Write::Overwrite: write_gradient(matcher, piece.rows, piece.slice_rows(), grad, out, context);
    }
  };
  call.writing([&] { run_pieces(pieces, call.tasks, write_piece); });
}

SparsePieces cut_for(const CooIndices& input, const ConstView& grad, const Call& call) {
  return cut_rows(input.rows(), row_bytes(input, grad), call.tasks);
}

// Checks and writes in one pass, into memory that is not visible to anyone else.
Status write_and_check_in_order(const ConstView& grad, const CooIndices& input, Ints start, const CooIndices& output,
                                const View& out, Write, const Call& call) {
  const auto matcher = match_in_order(input, start, output, call.rows);
  SparsePieces pieces = cut_for(input, grad, call);
  const KernelContext context = kernel_for(out, call);
  run_guessed(*matcher, pieces, call.tasks, [&](SparsePiece& piece) {
    piece.end = write_gradient(*matcher, piece.rows, {piece.first, output.rows()}, grad, out, context);
  });
  return pieces.back().end == output.rows() ? Status() : left_over(output.rows(), pieces.back().end);
}

// Checks everything in a first pass and writes in a second.
Status check_then_write_in_order(const ConstView& grad, const CooIndices& input, Ints start, const CooIndices& output,
                                 const View& out, Write write, const Call& call) {
  const auto matcher = match_in_order(input, start, output, call.rows);
  SparsePieces pieces = cut_for(input, grad, call);
  run_guessed(*matcher, pieces, call.tasks,
              [&](SparsePiece& piece) { piece.end = matcher->count(piece.rows, piece.first); });
  if (pieces.back().end != output.rows()) return left_over(output.rows(), pieces.back().end);
  write_pieces(*matcher, pieces, grad, out, write, call);
  return Status();
}

Status write_in_any_order(const ConstView& grad, const CooIndices& input, Ints start, const CooIndices& output,
                          const View& out, Write write, const Call& call) {
  const Joined joined = join_in_any_order(input, start, output, kernel_for(out, call));
  if (joined.found != output.rows()) {
    return left_over_in_any_order(output.rows(), joined.found);
  }
  const auto matcher = match_as_found(joined.rows(), call.rows);
  SparsePieces pieces = cut_for(input, grad, call);
  write_pieces(*matcher, pieces, grad, out, write, call);
  return Status();
}

Status write_window(const ConstView& grad, const CooIndices& input, Ints start, Ints size, const View& out, Write write,
                    const Call& call) {
  const auto matcher = match_window(input, start, size, call.rows);
  SparsePieces pieces = cut_for(input, grad, call);
  count_pieces(*matcher, pieces, call.tasks);
  if (pieces.back().end != grad.shape()[0]) {
    return other_window(grad.shape()[0], pieces.back().end, start, size);
  }
  write_pieces(*matcher, pieces, grad, out, write, call);
  return Status();
}

// The same for gradients; order "any" always waits.
void refuse_captured_wait(MatchOrder order, const DeviceStatus* status, const Call& call) {
  if (call.device.is_cpu()) return;
  if (order == MatchOrder::Any) cuda::refuse_capture("order \"any\" waits for the device", call.queue());
  refuse_captured_wait(status, call);
}

// Writes the gradient on a device. Rows are moved only if all were found, so a caller that waits can do so at the end.
template <class Refusal>
Status write_on_device(const cuda::DeviceFound& found, const ConstView& grad, const View& out, Write write, bool waits,
                       const Call& call, const Refusal& refusal) {
  found.write_gradient(grad, out, write, call.queue());
  if (!waits) return Status();
  const DeviceStatus outcome = found.outcome(call.queue());
  return outcome.refused != 0 ? refusal(outcome.expected, outcome.found) : Status();
}

Status match_on_device(const ConstView& grad, const CooIndices& input, Ints start, const CooIndices& output,
                       const View& out, MatchOrder order, Write write, DeviceStatus* status, const Call& call) {
  using cuda::DeviceFound;
  const bool in_order = order == MatchOrder::InOrder;
  const auto find = in_order ? DeviceFound::in_order : DeviceFound::in_any_order;
  const DeviceFound found = find(input, start, output, call.device_kernel(), status);
  return write_on_device(found, grad, out, write, status == nullptr, call,
                         in_order ? left_over : left_over_in_any_order);
}

Status write_window_on_device(const ConstView& grad, const CooIndices& input, Ints start, Ints size, const View& out,
                              Write write, DeviceStatus* status, const Call& call) {
  const auto found = cuda::DeviceFound::in_window(input, start, size, grad.shape()[0], call.device_kernel(), status);
  return write_on_device(
      found, grad, out, write, status == nullptr, call,
      [&](std::int64_t rows, std::int64_t in_window) { return other_window(rows, in_window, start, size); });
}

}  // namespace

Result<Tensor> sparse_slice_grad(const ConstView& grad, const CooIndices& input_indices, Ints input_start,
                                 const CooIndices& output_indices, MatchOrder order, const Context& context) {
  return without_throwing([&]() -> Result<Tensor> {
    constexpr Write write = Write::Overwrite;
    BACKSLICE_RETURN_IF_ERROR(check_grad_arguments(grad, input_indices, input_start, output_indices, order, write));
    const Call call(context, grad.device);
    refuse_captured_wait(order, nullptr, call);
    auto out = make_gradient(grad, "backprop_val_grad", input_indices.rows(), call);
    if (!out.ok()) return out;
    if (!call.device.is_cpu()) {
      BACKSLICE_RETURN_IF_ERROR(
          match_on_device(grad, input_indices, input_start, output_indices, out->view(), order, write, nullptr, call));
      return out;
    }
    const auto run = order == MatchOrder::Any ? write_in_any_order : write_and_check_in_order;
    BACKSLICE_RETURN_IF_ERROR(run(grad, input_indices, input_start, output_indices, out->view(), write, call));
    return out;
  });
}

Status sparse_slice_grad_into(const ConstView& grad, const CooIndices& input_indices, Ints input_start,
                              const CooIndices& output_indices, const View& out, MatchOrder order, Write write,
                              const Context& context) {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check_grad_arguments(grad, input_indices, input_start, output_indices, order, write));
    BACKSLICE_RETURN_IF_ERROR(check_grad_out(out, grad, input_indices, &output_indices, "backprop_val_grad"));
    BACKSLICE_RETURN_IF_ERROR(check_device_status(context, grad.device));
    const Call call(context, grad.device);
    refuse_captured_wait(order, context.device_status, call);
    if (!call.device.is_cpu()) {
      return match_on_device(grad, input_indices, input_start, output_indices, out, order, write, context.device_status,
                             call);
    }
    const auto run = order == MatchOrder::Any ? write_in_any_order : check_then_write_in_order;
    return run(grad, input_indices, input_start, output_indices, out, write, call);
  });
}

Result<Tensor> sparse_slice_grad_by_size(const ConstView& grad, const CooIndices& input_indices, Ints start, Ints size,
                                         const Context& context) {
  return without_throwing([&]() -> Result<Tensor> {
    constexpr Write write = Write::Overwrite;
    BACKSLICE_RETURN_IF_ERROR(check_window_arguments(grad, input_indices, start, size, write));
    const Call call(context, grad.device);
    refuse_captured_wait(nullptr, call);
    auto out = make_gradient(grad, "grad", input_indices.rows(), call);
    if (!out.ok()) return out;
    BACKSLICE_RETURN_IF_ERROR(
        call.device.is_cpu()
            ? write_window(grad, input_indices, start, size, out->view(), write, call)
            : write_window_on_device(grad, input_indices, start, size, out->view(), write, nullptr, call));
    return out;
  });
}

Status sparse_slice_grad_by_size_into(const ConstView& grad, const CooIndices& input_indices, Ints start, Ints size,
                                      const View& out, Write write, const Context& context) {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check_window_arguments(grad, input_indices, start, size, write));
    BACKSLICE_RETURN_IF_ERROR(check_grad_out(out, grad, input_indices, nullptr, "grad"));
    BACKSLICE_RETURN_IF_ERROR(check_device_status(context, grad.device));
    const Call call(context, grad.device);
    refuse_captured_wait(context.device_status, call);
    if (call.device.is_cpu()) return write_window(grad, input_indices, start, size, out, write, call);
    return write_window_on_device(grad, input_indices, start, size, out, write, context.device_status, call);
  });
}

}  // namespace backslice
