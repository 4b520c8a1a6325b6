#include "ops/joiner.h"

#include <utility>

#include "core/errors.h"
#include "core/items.h"
#include "core/overlap.h"
#include "core/row_layout.h"
#include "kernels/concat/kernel.h"
#include "memory/tensor_rows.h"
#include "ops/move.h"

namespace backslice {
namespace {

// The bytes from the first to the last of a view. There may be millions of segments; this test alone rules out most of
// them.
std::pair<const std::byte*, const std::byte*> span_of(const ConstView& view) {
  if (view.elements() == 0) return {view.data, view.data};
  const std::byte *low = view.data, *high = view.data + view.layout.item_size;
  for (int axis = 0; axis < view.shape().rank(); ++axis) {
    const std::int64_t reach = view.layout.strides[axis] * (view.shape()[axis] - 1);
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

View row_of(const View& view, std::int64_t row) {
  return {view.data + row * view.layout.strides[0], view.dtype, row_layout(view.layout), view.device};
}

View rows_of(const View& view, std::int64_t lo, std::int64_t hi) {
  Layout layout = view.layout;
  layout.shape = with_rows(view.shape(), hi - lo);
  return {view.data + lo * view.layout.strides[0], view.dtype, layout, view.device};
}

// Adds dense elements to elements [lo, hi) of a view in row-major order: the rest of a first row, whole rows, and the
// beginning of a last row.
void add_range(const View& out, std::int64_t lo, std::int64_t hi, const std::byte* from, const Call& call) {
  if (lo == hi) return;
  const std::int64_t item_size = out.layout.item_size;
  const auto add = [&](const View& box) {
    add_to(box, {from, out.dtype, contiguous_layout(box.shape(), item_size), out.device}, call);
  };
  if (hi - lo == out.elements()) return add(out);
  const std::int64_t inner = out.elements() / out.shape()[0];
  std::int64_t row = lo / inner;
  const auto add_part = [&](std::int64_t first, std::int64_t last) {
    add_range(row_of(out, row), first, last, from, call);
    from += (last - first) * item_size;
  };
  if (row == hi / inner) return add_part(lo % inner, hi % inner);
  if (lo % inner != 0) {
    add_part(lo % inner, inner);
    ++row;
  }
  if (const std::int64_t end = hi / inner; row < end) {
    add(rows_of(out, row, end));
    from += (end - row) * inner * item_size;
    row = end;
  }
  if (hi % inner != 0) add_part(0, hi % inner);
}

}  // namespace

void Joiner::write_dense(const View& out, Write write, const Call& call) const {
  if (!call.device.is_cpu()) {
    return cuda::concat(out.data, segments_, dtype_, call.device_kernel(), sums_, write);
  }
  const bool adds = !sums_.empty() || write == Write::Accumulate;
  const std::int64_t work_per_byte = adds ? operations_of(dtype_).addition_work : 1;
  const KernelContext kernel = call.kernel(out.elements() * item_size_, work_per_byte);
  concat(out.data, segments_, dtype_, item_size_, kernel, sums_, write);
}

Result<Tensor> Joiner::join(const Shape& shape, const Call& call) const {
  if (adjacent_ && first_ != nullptr) {
    return Tensor::of(
        *block_, View{const_cast<std::byte*>(first_), dtype_, contiguous_layout(shape, item_size_), block_->device()});
  }
  auto out = call.allocate(dtype_, shape, item_size_);
  if (out.ok()) write_dense(out->view(), Write::Overwrite, call);
  return out;
}

Status Joiner::join_into(const View& out, Write write, const Call& call) const {
  if (is_contiguous(out.layout)) {
    call.writing([&] { write_dense(out, write, call); });
    return Status();
  }
  if (write == Write::Accumulate) {
    call.writing([&] { add_parts(out, call); });
    return Status();
  }
  const auto dense = join(out.shape(), call);
  if (!dense.ok()) return dense.status();
  call.writing([&] { copy_into(out, dense->view(), call); });
  return Status();
}

// Adjacent segments are added at once: of millions of rows, most are adjacent.
void Joiner::add_parts(const View& out, const Call& call) const {
  std::int64_t at = 0, step = 0;
  for (std::size_t i = 0; i < segments_.size();) {
    call.tasks.throw_if_cancelled_at(step++);
    const std::byte* first = segments_[i].first;
    std::int64_t bytes = segments_[i++].bytes;
    const auto is_adjacent = [&](const Segment& next) { return next.bytes == 0 || next.first == first + bytes; };
    while (first != nullptr && i < segments_.size() && is_adjacent(segments_[i])) bytes += segments_[i++].bytes;
    const std::int64_t end = at + bytes / item_size_;
    if (first != nullptr) add_range(out, at, end, first, call);
    at = end;
  }
}

bool Joiner::shares_memory_with(const ConstView& view) const {
  const auto [low, high] = span_of(view);
  for (const Segment& segment : segments_) {
    if (segment.first == nullptr || segment.bytes == 0 || segment.first >= high || low >= segment.first + segment.bytes)
      continue;
    const Shape elements = *Shape::make({segment.bytes / item_size_});
    if (overlap(view, {segment.first, dtype_, contiguous_layout(elements, item_size_)})) return true;
  }
  return false;
}

}  // namespace backslice
