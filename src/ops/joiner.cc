#include "ops/joiner.h"

#include "core/items.h"

namespace backslice {

Result<Tensor> Joiner::join(const Shape& shape, const Call& call) const {
  if (adjacent_ && first_ != nullptr) {
    return Tensor::of(*block_, View{const_cast<std::byte*>(first_), dtype_, contiguous_layout(shape, item_size_)});
  }
  auto out = call.allocate(dtype_, shape, item_size_);
  if (!out.ok()) return out;
  const std::int64_t work_per_byte = sums_.empty() ? 1 : operations_of(dtype_).addition_work;
  concat(out->view().data, segments_, dtype_, item_size_, call.kernel(shape.elements() * item_size_, work_per_byte));
  return out;
}

}  // namespace backslice
