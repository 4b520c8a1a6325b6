// Slices of the rows of a ragged tensor, and their gradients.
#include <algorithm>
#include <vector>

#include "core/errors.h"
#include "core/items.h"
#include "core/overlap.h"
#include "core/row_layout.h"
#include "memory/tensor_rows.h"
#include "ops/checks.h"
#include "ops/move.h"
#include "ragged/ragged_parts.h"
#include "ragged/rows_source.h"

namespace backslice {
namespace {

Status check_rows(const RaggedTensor& rt, const Selection& rows) {
  if (rt.values().shape().rank() == 0) return invalid_argument("a scalar has no rows to slice");
  const int result_rank = rows.result_shape().rank();
  if (rows.shape().rank() == 1 && rows.shape()[0] == rt.rows() && result_rank == (rows.is_dropped(0) ? 0 : 1)) {
    return Status();
  }
  return invalid_argument("the slice must be a row or a range of the ", rt.rows(), " rows, got one of shape ",
                          Ints(rows.shape()), " with a result of rank ", result_rank);
}

// The i-th row that is taken.
Range nth_row(const Selection& rows, std::int64_t i) {
  const std::int64_t row = rows.axis(0).start + i * rows.axis(0).step;
  return {row, row + 1};
}

// The slice of the first axis as one of all axes of dense values.
Selection of_dense_values(const Shape& shape, const Selection& rows) {
  const Selection all = Selection::all(shape);
  Selection::Axes axes;
  Dims result_axes;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    axes.push_back(axis == 0 ? rows.axis(0) : all.axis(axis));
    if (axis > 0 || !rows.is_dropped(0)) result_axes.push_back(axis);
  }
  return *Selection::make(shape, axes, result_axes);
}

Status check_dtype(const RaggedTensor& rt, const ConstView& grad) {
  const std::int64_t item_size = rt.values().view().layout.item_size;
  if (grad.dtype != rt.dtype()) {
    return dtype_error("grad_values has dtype ", name(grad.dtype), ", expected ", name(rt.dtype()),
                       ", that of the values");
  }
  if (grad.layout.item_size != item_size) {
    return dtype_error("grad_values has items of ", grad.layout.item_size, " bytes, expected ", item_size,
                       ", as in the values");
  }
  if (!are_bytes(grad.dtype)) return dtype_error("grad_values: strings have no gradient");
  return Status();
}

Status check_gradient(const RaggedTensor& rt, const Selection& rows, const ConstView& grad) {
  BACKSLICE_RETURN_IF_ERROR(check_rows(rt, rows));
  BACKSLICE_RETURN_IF_ERROR(check_dtype(rt, grad));
  return check_input(grad, "grad_values");
}

// The gradient of rows of a tensor that is ragged, its splits and the gradient's shape known.
class RowsGradient {
 public:
  RowsGradient(const RaggedTensor& rt, const Selection& rows, const Call& call) : rt_(rt), rows_(rows), call_(call) {
    for (std::int64_t i = 0; i < rows.axis(0).count; ++i) {
      call.tasks.throw_if_cancelled_at(i);
      const Range range = rt.values_of(nth_row(rows, i));
      grad_rows_ += range.hi - range.lo;
    }
  }

  Status check(const ConstView& grad, Write write) const {
    const Shape& shape = rt_.values().shape();
    const Shape expected = with_rows(shape, grad_rows_);
    BACKSLICE_RETURN_IF_ERROR(check_shape(grad, "grad_values", expected, "that of the slice's values"));
    if (write == Write::Accumulate) {
      if (can_add(grad.dtype)) return Status();
      return dtype_error("accumulate: elements of dtype ", name(grad.dtype), " cannot be added");
    }
    if (has_zero(grad.dtype) || expected.elements() == shape.elements()) return Status();
    return dtype_error(name(grad.dtype),
                       " has no zero, and the gradient is zero in the rows that the slice does not take");
  }

  Status write(const ConstView& grad, const View& out, Write write) const {
    if (is_contiguous(grad.layout)) return in_order(grad).join_into(out, write, call_);
    const auto dense = copy_of(grad, call_);
    if (!dense.ok()) return dense.status();
    return in_order(dense->view()).join_into(out, write, call_);
  }

 private:
  // The rows in the order of memory, and the gaps between them.
  Joiner in_order(const ConstView& grad) const {
    const Shape& shape = rt_.values().shape();
    const std::int64_t count = rows_.axis(0).count, item_size = grad.layout.item_size,
                       inner = shape.elements() / std::max<std::int64_t>(1, shape[0]);
    const bool backwards = rows_.axis(0).step < 0;
    Joiner pieces(grad.dtype, item_size, 2 * static_cast<std::size_t>(count) + 1);
    std::int64_t written = 0, from = backwards ? grad_rows_ : 0;
    for (std::int64_t i = 0; i < count; ++i) {
      call_.tasks.throw_if_cancelled_at(i);
      const Range range = rt_.values_of(nth_row(rows_, backwards ? count - 1 - i : i));
      const std::int64_t length = range.hi - range.lo;
      if (backwards) from -= length;
      pieces.push_zeros((range.lo - written) * inner);
      pieces.push_borrowed(grad.data + from * inner * item_size, length * inner);
      if (!backwards) from += length;
      written = range.hi;
    }
    pieces.push_zeros((shape[0] - written) * inner);
    return pieces;
  }

  const RaggedTensor& rt_;
  const Selection& rows_;
  const Call& call_;
  std::int64_t grad_rows_ = 0;
};

}  // namespace

Result<RaggedTensor> ragged_slice(const RaggedTensor& rt, const Selection& rows, const Context& context) {
  return without_throwing([&]() -> Result<RaggedTensor> {
    BACKSLICE_RETURN_IF_ERROR(check_rows(rt, rows));
    const Selection::Axis& axis = rows.axis(0);
    if (rows.is_dropped(0)) return rt.row(axis.start, context);
    if (axis.step == 1) return rt.slice_rows(axis.start, axis.start + axis.count, context);
    if (rt.ragged_rank() > 0) {
      const Call call(context);
      return make_ragged(RowsSource(rt, rows, call), call);
    }
    auto values = slice(of_dense_values(rt.values().shape(), rows), rt.values().view(), context);
    if (!values.ok()) return values.status();
    return RaggedParts::join(*std::move(values), {});
  });
}

Result<RaggedSize> ragged_slice_size(const RaggedTensor& rt, const Selection& rows, const Context& context) {
  return without_throwing([&]() -> Result<RaggedSize> {
    BACKSLICE_RETURN_IF_ERROR(check_rows(rt, rows));
    return RowsSource(rt, rows, Call(context)).size();
  });
}

Status ragged_slice_into(const RaggedTensor& rt, const Selection& rows, const RaggedView& out, const Context& context) {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check_rows(rt, rows));
    const Call call(context);
    const RowsSource source(rt, rows, call);
    if (rt.ragged_rank() > 0) return fill_ragged(source, out, call);
    const ConstView values = rt.values().view();
    const auto shares_values = [&](const ConstView& view) { return overlap(view, values); };
    BACKSLICE_RETURN_IF_ERROR(check_ragged_output(source, out, std::cref(shares_values)));
    return slice_into(of_dense_values(values.shape(), rows), values, out.values, context);
  });
}

Result<Tensor> ragged_slice_grad(const RaggedTensor& rt, const Selection& rows, const ConstView& grad_values,
                                 const Context& context) {
  return without_throwing([&]() -> Result<Tensor> {
    BACKSLICE_RETURN_IF_ERROR(check_gradient(rt, rows, grad_values));
    const Shape& shape = rt.values().shape();
    if (rt.ragged_rank() == 0) return slice_grad(of_dense_values(shape, rows), grad_values, context);
    const Call call(context);
    const RowsGradient gradient(rt, rows, call);
    BACKSLICE_RETURN_IF_ERROR(gradient.check(grad_values, Write::Overwrite));
    auto out = call.allocate(grad_values.dtype, shape, grad_values.layout.item_size);
    if (!out.ok()) return out;
    BACKSLICE_RETURN_IF_ERROR(gradient.write(grad_values, out->view(), Write::Overwrite));
    return out;
  });
}

Status ragged_slice_grad_into(const RaggedTensor& rt, const Selection& rows, const ConstView& grad_values,
                              const View& out, Write write, const Context& context) {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check_gradient(rt, rows, grad_values));
    const Shape& shape = rt.values().shape();
    if (rt.ragged_rank() == 0) {
      return slice_grad_into(of_dense_values(shape, rows), grad_values, out, write, context);
    }
    const Call call(context);
    const RowsGradient gradient(rt, rows, call);
    BACKSLICE_RETURN_IF_ERROR(gradient.check(grad_values, write));
    BACKSLICE_RETURN_IF_ERROR(check_output(out, shape, grad_values, "grad_values"));
    if (splits_share_memory(rt, out)) return invalid_argument("out shares memory with the splits of rt");
    return gradient.write(grad_values, out, write);
  });
}

}  // namespace backslice
