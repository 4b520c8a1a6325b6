#include "memory/tensor_rows.h"

#include "core/errors.h"
#include "core/row_layout.h"

namespace backslice {
namespace {

std::byte* data_of(const Tensor& tensor) { return const_cast<std::byte*>(tensor.view().data); }

}  // namespace

Tensor rows_of(const Tensor& tensor, std::int64_t lo, std::int64_t hi) {
  View view{data_of(tensor), tensor.dtype(), tensor.view().layout, tensor.view().device};
  Dims extents(view.shape());
  extents[0] = hi - lo;
  if (view.elements() > 0) view.data += lo * view.layout.strides[0];
  view.layout.shape = *Shape::make(extents);
  return Tensor::of(tensor.buffer(), view);
}

Tensor row_of(const Tensor& tensor, std::int64_t row) {
  const ConstView all = tensor.view();
  View view{data_of(tensor), all.dtype, row_layout(all.layout), all.device};
  if (all.elements() > 0) view.data += row * all.layout.strides[0];
  return Tensor::of(tensor.buffer(), view);
}

Result<Shape> stacked_shape(std::int64_t count, Ints inner) {
  if (inner.size() + 1 > kMaxRank) {
    return invalid_argument("the result would have ", inner.size() + 1, " axes; at most ", kMaxRank, " are supported");
  }
  Dims dims;
  dims.push_back(count);
  for (std::int64_t dim : inner) dims.push_back(dim);
  return Shape::make(dims, "the result's shape");
}

}  // namespace backslice
