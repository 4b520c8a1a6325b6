// Slices of the rows of a ragged tensor, and their gradients.
#include <algorithm>
#include <vector>

#include "core/errors.h"
#include "core/items.h"
#include "core/row_layout.h"
#include "kernels/concat/kernel.h"
#include "ops/checks.h"
#include "ops/move.h"
#include "ragged/ragged_parts.h"
#include "ragged/splits_builder.h"

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

// One level of the rows that are taken: its splits are the lengths of those rows, added up. `taken` becomes what they
// take of the next level.
Result<Tensor> splits_of_taken(const RaggedTensor& rt, int level, std::vector<Range>& taken) {
  std::int64_t total = 0;
  for (const Range& range : taken) total += range.hi - range.lo;
  auto splits = SplitsBuilder::make(rt.splits_dtype(), total);
  if (!splits.ok()) return splits.status();
  std::int64_t sum = 0;
  for (Range& range : taken) {
    const std::int64_t first = rt.split(level, range.lo), end = rt.split(level, range.hi);
    for (std::int64_t i = range.lo; i < range.hi; ++i) splits->push(sum + rt.split(level, i + 1) - first);
    sum += end - first;
    range = {first, end};
  }
  return splits->finish();
}

// The values of the rows that are taken, one after the other. There may be millions of rows: as little as possible is
// made per row.
Result<Tensor> join_values(const RaggedTensor& rt, const std::vector<Range>& taken, const Call& call) {
  std::int64_t rows = 0;
  for (const Range& range : taken) rows += range.hi - range.lo;
  const Shape shape = with_rows(rt.values().shape(), rows);
  const std::int64_t item_size = rt.values().view().layout.item_size;
  auto joined = call.allocate(rt.dtype(), shape, item_size);
  if (!joined.ok() || shape.elements() == 0) return joined;
  const std::int64_t row_bytes = shape.elements() / rows * item_size;
  std::vector<Segment> pieces;
  pieces.reserve(taken.size());
  for (const Range& range : taken) {
    pieces.push_back({rt.values().data() + range.lo * row_bytes, (range.hi - range.lo) * row_bytes});
  }
  concat(joined->view().data, pieces, rt.dtype(), item_size, call.kernel(rows * row_bytes));
  return joined;
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

// The rows in the order of memory, and the gaps between them.
std::vector<Segment> pieces_in_order(const RaggedTensor& rt, const Selection& rows, const std::byte* grad,
                                     std::int64_t grad_rows, std::int64_t row_bytes) {
  const std::int64_t count = rows.axis(0).count;
  const bool backwards = rows.axis(0).step < 0;
  std::vector<Segment> pieces;
  pieces.reserve(2 * static_cast<std::size_t>(count) + 1);
  std::int64_t written = 0, from = backwards ? grad_rows : 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const Range range = rt.values_of(nth_row(rows, backwards ? count - 1 - i : i));
    const std::int64_t length = range.hi - range.lo;
    if (backwards) from -= length;
    pieces.push_back({nullptr, (range.lo - written) * row_bytes});
    pieces.push_back({grad + from * row_bytes, length * row_bytes});
    if (!backwards) from += length;
    written = range.hi;
  }
  pieces.push_back({nullptr, (rt.values().shape()[0] - written) * row_bytes});
  return pieces;
}

}  // namespace

Result<RaggedTensor> ragged_slice(const RaggedTensor& rt, const Selection& rows, const Context& context) {
  return without_throwing([&]() -> Result<RaggedTensor> {
    BACKSLICE_RETURN_IF_ERROR(check_rows(rt, rows));
    const Selection::Axis& axis = rows.axis(0);
    if (rows.is_dropped(0)) return rt.row(axis.start);
    if (axis.step == 1) return rt.slice_rows(axis.start, axis.start + axis.count);
    if (rt.ragged_rank() == 0) {
      auto values = slice(of_dense_values(rt.values().shape(), rows), rt.values().view(), context);
      if (!values.ok()) return values.status();
      return RaggedParts::join(*std::move(values), {});
    }
    std::vector<Range> taken;
    taken.reserve(static_cast<std::size_t>(axis.count));
    for (std::int64_t i = 0; i < axis.count; ++i) taken.push_back(nth_row(rows, i));
    std::vector<Tensor> splits;
    for (int level = 0; level < rt.ragged_rank(); ++level) {
      auto list = splits_of_taken(rt, level, taken);
      if (!list.ok()) return list.status();
      splits.push_back(*std::move(list));
    }
    auto values = join_values(rt, taken, Call(context));
    if (!values.ok()) return values.status();
    return RaggedParts::join(*std::move(values), std::move(splits));
  });
}

Result<Tensor> ragged_slice_grad(const RaggedTensor& rt, const Selection& rows, const ConstView& grad_values,
                                 const Context& context) {
  return without_throwing([&]() -> Result<Tensor> {
    BACKSLICE_RETURN_IF_ERROR(check_rows(rt, rows));
    BACKSLICE_RETURN_IF_ERROR(check_dtype(rt, grad_values));
    BACKSLICE_RETURN_IF_ERROR(check_input(grad_values, "grad_values"));
    const Shape& shape = rt.values().shape();
    if (rt.ragged_rank() == 0) return slice_grad(of_dense_values(shape, rows), grad_values, context);
    std::int64_t grad_rows = 0;
    for (std::int64_t i = 0; i < rows.axis(0).count; ++i) {
      const Range range = rt.values_of(nth_row(rows, i));
      grad_rows += range.hi - range.lo;
    }
    const Shape expected = with_rows(shape, grad_rows);
    BACKSLICE_RETURN_IF_ERROR(check_shape(grad_values, "grad_values", expected, "that of the slice's values"));
    if (!has_zero(grad_values.dtype) && expected.elements() < shape.elements()) {
      return dtype_error(name(grad_values.dtype),
                         " has no zero, and the gradient is zero in the rows that the slice does not take");
    }
    const Call call(context);
    const std::int64_t item_size = grad_values.layout.item_size,
                       row_bytes = shape.elements() / std::max<std::int64_t>(1, shape[0]) * item_size;
    auto out = call.allocate(grad_values.dtype, shape, item_size);
    if (!out.ok() || shape.elements() == 0) return out;
    const auto dense = copy_of(grad_values, call);
    if (!dense.ok()) return dense;
    const auto pieces = pieces_in_order(rt, rows, dense->view().data, grad_rows, row_bytes);
    concat(out->view().data, pieces, grad_values.dtype, item_size, call.kernel(shape[0] * row_bytes));
    return out;
  });
}

}  // namespace backslice
