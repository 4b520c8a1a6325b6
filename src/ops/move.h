// Moving whole tensors: the plain copies, additions and zeros that operations are made of. No checks.
#pragma once

#include "kernels/slice/kernel.h"
#include "ops/call.h"

namespace backslice {

// Runs a schedule on the device of the arguments.
inline void run_fill(const Schedule& schedule, DType dtype, std::byte* dst, const std::byte* src, const Call& call) {
  if (call.device.is_cpu()) {
    fill(schedule.plan, dtype, dst, src, call.kernel(schedule));
  } else {
    cuda::fill(schedule.plan, dst, src, call.queue());
  }
  call.tasks.note_begun();
}

// The same for sums.
inline void run_add(const Schedule& schedule, DType dtype, std::byte* dst, const std::byte* src, const Call& call) {
  if (call.device.is_cpu()) {
    add(schedule.plan, dtype, dst, src, call.kernel(schedule));
  } else {
    cuda::add(schedule.plan, dtype, dst, src, call.queue());
  }
  call.tasks.note_begun();
}

// dst = src, of one shape and dtype.
inline void copy_into(const View& dst, const ConstView& src, const Call& call) {
  const Schedule schedule = schedule_copy(dst.layout, src.layout, src.dtype);
  run_fill(schedule, src.dtype, dst.data, src.data, call);
}

// dst += src, of one shape and dtype. Precondition: can_add(src.dtype).
inline void add_to(const View& dst, const ConstView& src, const Call& call) {
  const Schedule schedule = schedule_addition(dst.layout, src.layout, src.dtype);
  run_add(schedule, src.dtype, dst.data, src.data, call);
}

// Returns a contiguous copy.
inline Result<Tensor> copy_of(const ConstView& src, const Call& call) {
  auto made = call.allocate(src.dtype, src.shape(), src.layout.item_size);
  if (made.ok()) copy_into(made->view(), src, call);
  return made;
}

inline void zero_all(const View& dst, const Call& call) {
  const Schedule schedule = schedule_zero(dst.layout, dst.dtype);
  run_fill(schedule, dst.dtype, dst.data, dst.data, call);
}

}  // namespace backslice
