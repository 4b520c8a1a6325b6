// Moving the rows of sparse slices a row at a time: what the kernels are tested against.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/items.h"
#include "core/row_layout.h"
#include "kernels/slice/kernel.h"
#include "kernels/sparse/kernel.h"
#include "plan/plan.h"

namespace backslice::reference {

// Calls body(row, slice row or kNoRow) for each row.
template <class Body>
std::int64_t for_each_row(const Matcher& matcher, Range rows, Range slice_rows, const Body& body) {
  FoundRows found;
  MatchCursor cursor{slice_rows.lo};
  for (std::int64_t row = rows.lo; row < rows.hi; ++row) {
    matcher.match({row, row + 1}, cursor, found);
    const bool any = found.count() > 0 && found.slice_row(0, 0) < slice_rows.hi;
    body(row, any ? found.slice_row(0, 0) : kNoRow);
  }
  return std::min(cursor.next, slice_rows.hi);
}

inline std::byte* row_of(const View& tensor, std::int64_t row) { return tensor.data + row * tensor.layout.strides[0]; }
inline const std::byte* row_of(const ConstView& tensor, std::int64_t row) {
  return tensor.data + row * tensor.layout.strides[0];
}

inline void copy_row(const View& to, std::int64_t to_row, const ConstView& from, std::int64_t from_row) {
  const Plan plan = plan_copy(row_layout(to.layout), row_layout(from.layout), Widen::No);
  overwrite(plan, to.dtype, row_of(to, to_row), row_of(from, from_row));
}

inline void zero_row(const View& out, std::int64_t row) {
  overwrite(plan_zero(row_layout(out.layout), Widen::No), out.dtype, row_of(out, row), row_of(out, row));
}

// An index, or what is left of it once start is subtracted.
template <class Index>
void shift_index(std::byte* to, const std::byte* from, std::int64_t start) {
  Index index;
  std::memcpy(&index, from, sizeof(Index));
  index -= static_cast<Index>(start);  // unsigned: nothing overflows
  std::memcpy(to, &index, sizeof(Index));
}

inline std::int64_t write_gradient(const Matcher& matcher, Range rows, Range slice_rows, const ConstView& grad,
                                   const View& out) {
  return for_each_row(matcher, rows, slice_rows, [&](std::int64_t row, std::int64_t slice_row) {
    slice_row == kNoRow ? zero_row(out, row) : copy_row(out, row, grad, slice_row);
  });
}

inline void write_taken(const Matcher& matcher, Range rows, Range slice_rows, const ConstView& grad, const View& out) {
  for_each_row(matcher, rows, slice_rows, [&](std::int64_t row, std::int64_t slice_row) {
    if (slice_row != kNoRow) copy_row(out, row, grad, slice_row);
  });
}

inline void add_gradient(const Matcher& matcher, Range rows, Range slice_rows, const ConstView& grad, const View& out) {
  const Plan plan = plan_copy(row_layout(out.layout), row_layout(grad.layout), Widen::No);
  for_each_row(matcher, rows, slice_rows, [&](std::int64_t row, std::int64_t slice_row) {
    if (slice_row != kNoRow) accumulate(plan, out.dtype, row_of(out, row), row_of(grad, slice_row));
  });
}

inline void write_slice(const Matcher& matcher, Range rows, Range slice_rows, const CooIndices& indices, Ints start,
                        const ConstView& values, const View& out_indices, const View& out_values) {
  const auto shift = indices.dtype() == DType::Int32 ? shift_index<std::uint32_t> : shift_index<std::uint64_t>;
  const auto move = [&](std::int64_t row, std::int64_t slice_row) {
    if (slice_row == kNoRow) return;
    for (int axis = 0; axis < indices.rank(); ++axis) {
      const CooIndices::Column& column = indices.column(axis);
      shift(row_of(out_indices, slice_row) + axis * out_indices.layout.strides[1], column.data + row * column.stride,
            start[static_cast<std::size_t>(axis)]);
    }
    copy_row(out_values, slice_row, values, row);
  };
  for (std::int64_t row = for_each_row(matcher, rows, slice_rows, move); row < slice_rows.hi; ++row) {
    zero_row(out_indices, row);
    zero_row(out_values, row);
  }
}

}  // namespace backslice::reference
