#include "kernels/slice/reference.h"

#include "core/items.h"
#include "core/row_layout.h"
#include "kernels/sparse/kernel.h"
#include "plan/plan.h"

namespace backslice::reference {
namespace {

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

}  // namespace

std::int64_t write_gradient(const Matcher& matcher, Range rows, Range slice_rows, const ConstView& grad,
                            const View& out) {
  const Layout out_row = row_layout(out.layout), grad_row = row_layout(grad.layout);
  return for_each_row(matcher, rows, slice_rows, [&](std::int64_t row, std::int64_t slice_row) {
    std::byte* to = out.data + row * out.layout.strides[0];
    if (slice_row == kNoRow) return overwrite(plan_zero(out_row, Widen::No), out.dtype, to, to);
    overwrite(plan_copy(out_row, grad_row, Widen::No), out.dtype, to, grad.data + slice_row * grad.layout.strides[0]);
  });
}

void add_gradient(const Matcher& matcher, Range rows, Range slice_rows, const ConstView& grad, const View& out) {
  const Plan plan = plan_copy(row_layout(out.layout), row_layout(grad.layout), Widen::No);
  for_each_row(matcher, rows, slice_rows, [&](std::int64_t row, std::int64_t slice_row) {
    if (slice_row == kNoRow) return;
    accumulate(plan, out.dtype, out.data + row * out.layout.strides[0], grad.data + slice_row * grad.layout.strides[0]);
  });
}

}  // namespace backslice::reference
