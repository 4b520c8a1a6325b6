// SparseSliceGrad: from the values of a slice back to those of the tensor.
#include <limits>

#include "backslice/sparse_slice.h"
#include "core/errors.h"
#include "core/items.h"
#include "kernels/sparse/join.h"
#include "kernels/sparse/kernel.h"
#include "ops/call.h"
#include "ops/checks.h"
#include "sparse/checks.h"
#include "sparse/parts.h"

namespace backslice {
namespace {

Status check_grad_dtype(const ConstView& grad, std::int64_t input_rows, Write write) {
  if (!are_bytes(grad.dtype)) return dtype_error("backprop_val_grad: strings have no gradient");
  if (write == Write::Accumulate) return check_can_accumulate(grad.dtype);
  if (has_zero(grad.dtype) || grad.shape()[0] == input_rows) return Status();
  return dtype_error(name(grad.dtype), " has no zero, and the gradient is zero in the ", input_rows - grad.shape()[0],
                     " rows that the slice does not hold");
}

// In TensorFlow's order.
Status check_arguments(const ConstView& grad, const CooIndices& input, Ints start, const CooIndices& output,
                       MatchOrder order, Write write) {
  BACKSLICE_RETURN_IF_ERROR(check_rows(grad, "backprop_val_grad"));
  if (input.rank() != output.rank()) {
    return invalid_argument("input_indices has ", input.rank(), " columns, but output_indices has ", output.rank());
  }
  if (input.dtype() != output.dtype()) {
    return dtype_error("input_indices has dtype ", name(input.dtype()), ", but output_indices has ",
                       name(output.dtype()));
  }
  if (output.rows() > input.rows()) {
    return invalid_argument("output_indices has ", output.rows(), " rows, more than input_indices, which has ",
                            input.rows());
  }
  if (grad.shape()[0] != output.rows()) {
    return invalid_argument("backprop_val_grad has ", grad.shape()[0], " rows, but output_indices has ", output.rows());
  }
  BACKSLICE_RETURN_IF_ERROR(check_length(start, "input_start", input.rank(), "column of input_indices"));
  BACKSLICE_RETURN_IF_ERROR(check_input(grad, "backprop_val_grad"));
  if (order == MatchOrder::Any && output.rows() > std::numeric_limits<std::int32_t>::max()) {
    return unimplemented("order \"any\" takes at most 2**31 - 1 rows of output_indices, got ", output.rows());
  }
  return check_grad_dtype(grad, input.rows(), write);
}

Status check_window_arguments(const ConstView& grad, const CooIndices& input, Ints start, Ints size, Write write) {
  BACKSLICE_RETURN_IF_ERROR(check_rows(grad, "grad"));
  BACKSLICE_RETURN_IF_ERROR(check_length(start, "start", input.rank(), "column of input_indices"));
  BACKSLICE_RETURN_IF_ERROR(check_size(size, input.rank()));
  if (grad.shape()[0] > input.rows()) {
    return invalid_argument("grad has ", grad.shape()[0], " rows, more than input_indices, which has ", input.rows());
  }
  BACKSLICE_RETURN_IF_ERROR(check_input(grad, "grad"));
  return check_grad_dtype(grad, input.rows(), write);
}

Result<Shape> gradient_shape(const ConstView& grad, std::int64_t rows) {
  Dims dims(grad.shape());
  dims[0] = rows;
  return Shape::make(dims, "the gradient's shape");
}

Result<Tensor> make_gradient(const ConstView& grad, std::int64_t rows, const Call& call) {
  const auto shape = gradient_shape(grad, rows);
  if (!shape.ok()) return shape.status();
  return call.allocate(grad.dtype, *shape, grad.layout.item_size);
}

Status check_out(const View& out, const ConstView& grad, const CooIndices& input, const CooIndices* output,
                 const char* grad_argument) {
  const auto shape = gradient_shape(grad, input.rows());
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

KernelContext kernel_for(const View& out, const Call& call) {
  return call.kernel(out.elements() * out.layout.item_size);
}

// The second pass, when the parts are known.
void write_parts(const Matcher& matcher, SparseParts& parts, const ConstView& grad, const View& out, Write write,
                 const Call& call) {
  const KernelContext context = kernel_for(out, call);
  run_parts(parts, call.tasks, [&](SparsePart& part) {
    switch (write) {
      case Write::Accumulate: return add_gradient(matcher, part.rows, part.slice_rows(), grad, out, context);
      case Write::IntoZeros: return write_taken(matcher, part.rows, part.slice_rows(), grad, out);
      case Write::Overwrite: write_gradient(matcher, part.rows, part.slice_rows(), grad, out, context);
    }
  });
}

SparseParts cut_for(const CooIndices& input, const ConstView& grad, const Call& call) {
  return cut_rows(input.rows(), row_bytes(input, grad), call.threads());
}

// One pass: checks while writing, into memory that is not visible to anyone else.
Status write_and_check_in_order(const ConstView& grad, const CooIndices& input, Ints start, const CooIndices& output,
                                const View& out, Write, const Call& call) {
  const auto matcher = match_in_order(input, start, output, call.rows);
  SparseParts parts = cut_for(input, grad, call);
  const KernelContext context = kernel_for(out, call);
  run_guessed(*matcher, parts, call.tasks, [&](SparsePart& part) {
    part.end = write_gradient(*matcher, part.rows, {part.first, output.rows()}, grad, out, context);
  });
  return parts.back().end == output.rows() ? Status() : left_over(output.rows(), parts.back().end);
}

// Two passes: nothing is written before all is checked.
Status check_then_write_in_order(const ConstView& grad, const CooIndices& input, Ints start, const CooIndices& output,
                                 const View& out, Write write, const Call& call) {
  const auto matcher = match_in_order(input, start, output, call.rows);
  SparseParts parts = cut_for(input, grad, call);
  run_guessed(*matcher, parts, call.tasks, [&](SparsePart& part) { part.end = matcher->count(part.rows, part.first); });
  if (parts.back().end != output.rows()) return left_over(output.rows(), parts.back().end);
  write_parts(*matcher, parts, grad, out, write, call);
  return Status();
}

Status write_in_any_order(const ConstView& grad, const CooIndices& input, Ints start, const CooIndices& output,
                          const View& out, Write write, const Call& call) {
  const Joined joined = join_in_any_order(input, start, output, kernel_for(out, call));
  if (joined.found != output.rows()) {
    return Status(StatusCode::Internal,
                  join("Elements of backprop_val_grad aren't all propagated. Num elements:", output.rows(),
                       ", used: ", joined.found, "; the others' indices, plus input_start, are not in input_indices"));
  }
  const auto matcher = match_as_found(joined.rows(), call.rows);
  SparseParts parts = cut_for(input, grad, call);
  write_parts(*matcher, parts, grad, out, write, call);
  return Status();
}

Status write_window(const ConstView& grad, const CooIndices& input, Ints start, Ints size, const View& out, Write write,
                    const Call& call) {
  const auto matcher = match_window(input, start, size, call.rows);
  SparseParts parts = cut_for(input, grad, call);
  count_parts(*matcher, parts, call.tasks);
  if (parts.back().end != grad.shape()[0]) {
    return invalid_argument("grad has ", grad.shape()[0], " rows, but ", parts.back().end,
                            " rows of input_indices lie in the window from start ", start, " of size ", size);
  }
  write_parts(*matcher, parts, grad, out, write, call);
  return Status();
}

}  // namespace

Result<Tensor> sparse_slice_grad(const ConstView& grad, const CooIndices& input_indices, Ints input_start,
                                 const CooIndices& output_indices, MatchOrder order, const Context& context) {
  return without_throwing([&]() -> Result<Tensor> {
    constexpr Write write = Write::Overwrite;
    BACKSLICE_RETURN_IF_ERROR(check_arguments(grad, input_indices, input_start, output_indices, order, write));
    const Call call(context);
    auto out = make_gradient(grad, input_indices.rows(), call);
    if (!out.ok()) return out;
    const auto run = order == MatchOrder::Any ? write_in_any_order : write_and_check_in_order;
    BACKSLICE_RETURN_IF_ERROR(run(grad, input_indices, input_start, output_indices, out->view(), write, call));
    return out;
  });
}

Status sparse_slice_grad_into(const ConstView& grad, const CooIndices& input_indices, Ints input_start,
                              const CooIndices& output_indices, const View& out, MatchOrder order, Write write,
                              const Context& context) {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check_arguments(grad, input_indices, input_start, output_indices, order, write));
    BACKSLICE_RETURN_IF_ERROR(check_out(out, grad, input_indices, &output_indices, "backprop_val_grad"));
    const auto run = order == MatchOrder::Any ? write_in_any_order : check_then_write_in_order;
    return run(grad, input_indices, input_start, output_indices, out, write, Call(context));
  });
}

Result<Tensor> sparse_slice_grad_by_size(const ConstView& grad, const CooIndices& input_indices, Ints start, Ints size,
                                         const Context& context) {
  return without_throwing([&]() -> Result<Tensor> {
    constexpr Write write = Write::Overwrite;
    BACKSLICE_RETURN_IF_ERROR(check_window_arguments(grad, input_indices, start, size, write));
    const Call call(context);
    auto out = make_gradient(grad, input_indices.rows(), call);
    if (!out.ok()) return out;
    BACKSLICE_RETURN_IF_ERROR(write_window(grad, input_indices, start, size, out->view(), write, call));
    return out;
  });
}

Status sparse_slice_grad_by_size_into(const ConstView& grad, const CooIndices& input_indices, Ints start, Ints size,
                                      const View& out, Write write, const Context& context) {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check_window_arguments(grad, input_indices, start, size, write));
    BACKSLICE_RETURN_IF_ERROR(check_out(out, grad, input_indices, nullptr, "grad"));
    return write_window(grad, input_indices, start, size, out, write, Call(context));
  });
}

}  // namespace backslice
