// Copies rows of values: what an entry of a sparse tensor holds, a number or a small dense tensor.
#pragma once

#include <cstring>

#include "core/items.h"
#include "core/row_layout.h"
#include "kernels/cpu/writer.h"
#include "kernels/slice/kernel.h"
#include "plan/plan.h"

namespace backslice {

// Moves runs of rows from one list of values to another, of any strides.
class RowCopier {
 public:
  RowCopier(const View& dst, const ConstView& src)
      : dst_(dst), src_(src), row_(plan_copy(row_layout(dst.layout), row_layout(src.layout), widen_for(src.dtype))) {
    // Whether a row is one run of bytes on both sides. It need not begin at the row's first element, where that is the
    // last in memory.
    one_run_ = row_.loops().empty() && are_bytes(src.dtype);
    if (one_run_) {
      dst_.data += row_.dst_offset();
      src_.data += row_.src_offset();
    }
  }

  // Where the run of row 0 begins. Precondition: dense_row() > 0.
  std::byte* dst() const { return dst_.data; }
  const std::byte* src() const { return src_.data; }

  // The size of a row if rows lie one after the other on both sides, else 0.
  std::int64_t dense_row() const {
    const std::int64_t size = row_.item_size();
    return one_run_ && dst_stride() == size && src_stride() == size ? size : 0;
  }

  void copy(std::int64_t dst_row, std::int64_t src_row, std::int64_t count) const {
    if (row_.is_empty()) return;  // and maybe no memory
    std::byte* to = dst_.data + dst_row * dst_stride();
    const std::byte* from = src_.data + src_row * src_stride();
    if (dense_row() > 0) return copy_run(to, from, count * dense_row());
    for (std::int64_t i = 0; i < count; ++i, to += dst_stride(), from += src_stride()) {
      one_run_ ? copy_bytes(to, from, row_.item_size()) : reference::overwrite(row_, src_.dtype, to, from);
    }
  }

  // Short runs without a call.
  static void copy_run(std::byte* to, const std::byte* from, std::int64_t bytes) {
    if (bytes == 4) {
      std::memcpy(to, from, 4);
    } else if (bytes == 8) {
      std::memcpy(to, from, 8);
    } else {
      copy_bytes(to, from, bytes);
    }
  }

  std::int64_t dst_stride() const { return dst_.layout.strides[0]; }
  std::int64_t src_stride() const { return src_.layout.strides[0]; }

 private:
  View dst_;
  ConstView src_;
  Plan row_;
  bool one_run_;
};

}  // namespace backslice
