#include "ops/joiner.h"

#include <utility>

#include "core/errors.h"
#include "core/items.h"
#include "core/overlap.h"
#include "memory/tensor_rows.h"
#include "ops/move.h"

namespace backslice {
namespace {

// From the first byte of a view to after its last. There may be millions of parts: most are told apart from it by this
// alone.
std::pair<const std::byte*, const std::byte*> span_of(const ConstView& view) {
  if (view.elements() == 0) return {view.data, view.data};
  const std::byte *low = view.data, *high = view.data + view.layout.item_size;
  for (int axis = 0; axis < view.shape().rank(); ++axis) {
    const std::int64_t reach = view.layout.strides[axis] * (view.shape()[axis] - 1);
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

}  // namespace

void Joiner::write_dense(const View& out, Write write, const Call& call) const {
  const bool adds = !sums_.empty() || write == Write::Accumulate;
  const std::int64_t work_per_byte = adds ? operations_of(dtype_).addition_work : 1;
  const KernelContext kernel = call.kernel(out.elements() * item_size_, work_per_byte);
  concat(out.data, segments_, dtype_, item_size_, kernel, sums_, write);
}

Result<Tensor> Joiner::join(const Shape& shape, const Call& call) const {
  if (adjacent_ && first_ != nullptr) {
    return Tensor::of(*block_, View{const_cast<std::byte*>(first_), dtype_, contiguous_layout(shape, item_size_)});
  }
  auto out = call.allocate(dtype_, shape, item_size_);
  if (out.ok()) write_dense(out->view(), Write::Overwrite, call);
  return out;
}

Status Joiner::join_into(const View& out, Write write, const Call& call) const {
  if (is_dense(out)) {
    write_dense(out, write, call);
    return Status();
  }
  const auto dense = join(out.shape(), call);
  if (!dense.ok()) return dense.status();
  if (write == Write::Accumulate) {
    add_to(out, dense->view(), call);
  } else {
    copy_into(out, dense->view(), call);
  }
  return Status();
}

bool Joiner::shares_memory_with(const ConstView& view) const {
  const auto [low, high] = span_of(view);
  for (const Segment& segment : segments_) {
    if (segment.first == nullptr || segment.first >= high || low >= segment.first + segment.bytes) continue;
    const Shape elements = *Shape::make({segment.bytes / item_size_});
    if (overlap(view, {segment.first, dtype_, contiguous_layout(elements, item_size_)})) return true;
  }
  return false;
}

}  // namespace backslice
