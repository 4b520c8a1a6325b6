#include "core/reshape.h"

namespace backslice {
namespace {

// Computes the strides of the target axes [first, last), whose extents multiply to the length of one evenly strided
// run.
void spread(const Shape& shape, int first, int last, std::int64_t stride, Dims& strides) {
  for (int i = last - 1; i >= first; --i) {
    strides[i] = stride;
    stride *= shape[i];
  }
}

}  // namespace

std::optional<Layout> reshape(const Layout& layout, const Shape& shape) {
  if (shape.elements() == 0) return contiguous_layout(shape, layout.item_size);
  Layout result{shape, Dims(shape), layout.item_size};
  const int from_rank = layout.shape.rank(), to_rank = shape.rank();
  // Match groups of axes with equal products, from the left. Within a source group each axis must continue into the
  // next, so that the group is one evenly strided run.
  int from = 0, to = 0;
  while (from < from_rank || to < to_rank) {
    const int from_begin = from, to_begin = to;
    std::int64_t from_size = from < from_rank ? layout.shape[from++] : 1;
    std::int64_t to_size = to < to_rank ? shape[to++] : 1;
    while (from_size != to_size) {
      if (from_size < to_size) {
        from_size *= layout.shape[from++];
      } else {
        to_size *= shape[to++];
      }
    }
    std::int64_t stride = layout.item_size;
    bool seen = false;  // axes of one element do not matter
    std::int64_t run = 1;
    for (int i = from - 1; i >= from_begin; --i) {
      if (layout.shape[i] == 1) continue;
      if (seen && layout.strides[i] != stride * run) return std::nullopt;
      if (!seen) stride = layout.strides[i];
      seen = true;
      run *= layout.shape[i];
    }
    spread(shape, to_begin, to, stride, result.strides);
  }
  return result;
}

}  // namespace backslice
