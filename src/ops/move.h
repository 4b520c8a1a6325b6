// Moving whole tensors: the plain copies, additions and zeros that operations are made of. No checks.
#pragma once

#include "kernels/slice/kernel.h"
#include "ops/call.h"

namespace backslice {

// dst = src, of one shape and dtype.
inline void copy_into(const View& dst, const ConstView& src, const Call& call) {
  const Schedule schedule = schedule_copy(dst.layout, src.layout, src.dtype);
  fill(schedule.plan, src.dtype, dst.data, src.data, call.kernel(schedule));
}

// dst += src, of one shape and dtype. Precondition: can_add(src.dtype).
inline void add_to(const View& dst, const ConstView& src, const Call& call) {
  const Schedule schedule = schedule_addition(dst.layout, src.layout, src.dtype);
  add(schedule.plan, src.dtype, dst.data, src.data, call.kernel(schedule));
}

// A contiguous copy.
inline Result<Tensor> copy_of(const ConstView& src, const Call& call) {
  auto made = call.allocate(src.dtype, src.shape(), src.layout.item_size);
  if (made.ok()) copy_into(made->view(), src, call);
  return made;
}

inline void zero_all(const View& dst, const Call& call) {
  const Schedule schedule = schedule_zero(dst.layout, dst.dtype);
  fill(schedule.plan, dst.dtype, dst.data, dst.data, call.kernel(schedule));
}

}  // namespace backslice
