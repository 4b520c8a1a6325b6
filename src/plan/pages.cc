#include "plan/pages.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace backslice {

std::int64_t page_bytes() {
  static const std::int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

std::int64_t pages_touched(const Selection& selection, const Layout& layout, std::int64_t page_bytes) {
  if (selection.result_shape().elements() == 0) return 0;
  // From the innermost axis outwards: the bytes that the selected elements span, and the pages in them that are
  // touched.
  std::int64_t span = layout.item_size;
  const auto pages_of = [&](std::int64_t bytes) { return bytes / page_bytes + 2; };
  std::int64_t pages = pages_of(span);
  for (int axis = selection.shape().rank() - 1; axis >= 0; --axis) {
    const Selection::Axis& taken = selection.axis(axis);
    const std::int64_t stride = std::abs(taken.step * layout.strides[axis]);
    const bool leaves_no_page_out = stride <= page_bytes || stride <= span;
    const std::int64_t apart =
        taken.count > pages_of(layout.item_size) && pages > INT64_MAX / taken.count ? INT64_MAX : pages * taken.count;
    span += (taken.count - 1) * stride;
    pages = leaves_no_page_out ? std::min(apart, pages_of(span)) : apart;
  }
  return pages;
}

}  // namespace backslice
