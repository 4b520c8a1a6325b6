// DevicePlan: a plan as a plain struct, which is the argument of a CUDA kernel.
//
// Its items are units of 1, 2, 4, 8 or 16 bytes: the widest one that divides all addresses, strides and sizes of the
// plan. Its loops are those of the plan, with one more over the units of a longer item. Positions are counted with 31
// bits: a larger plan is split first.
#pragma once

#include <string>
#include <vector>

#include "kernels/cuda/positions.h"
#include "plan/plan.h"

namespace backslice::cuda {

struct DeviceLoop {
  FastDivisor extent;
  FastDivisor step;
  std::uint32_t start = 0, count = 0;
  std::int64_t dst_stride = 0, src_stride = 0;  // in bytes
};

// For at most so many loops: a kernel with shorter arguments starts sooner.
template <int kMostLoops>
struct DevicePlanOf {
  std::byte* dst = nullptr;  // of the first position
  const std::byte* src = nullptr;
  Bounds readable;          // the source's items and what lies between them
  std::uint32_t items = 1;  // positions of all loops, less than 2^31
  std::int32_t width = 1;   // of an item, in bytes
  std::int32_t loops = 0;   // outermost first
  bool is_dense = false;    // the destination has no gaps
  DeviceLoop loop[kMostLoops];
};

// For any number of loops: one per axis, and one more over the units of an item.
inline constexpr int kMaxLoops = 33;
using DevicePlan = DevicePlanOf<kMaxLoops>;

// Precondition: the plan has no more loops.
template <int kMostLoops>
DevicePlanOf<kMostLoops> shortened(const DevicePlan& plan) {
  DevicePlanOf<kMostLoops> made{plan.dst,   plan.src,   plan.readable, plan.items,
                                plan.width, plan.loops, plan.is_dense, {}};
  for (int i = 0; i < plan.loops; ++i) made.loop[i] = plan.loop[i];
  return made;
}

// Returns the part of a plan that is selected, without zeros.
DevicePlan taken_of(const DevicePlan& plan);

// Returns the plans that together are `plan`, for tensors whose first elements have these addresses.
std::vector<DevicePlan> device_plans(const Plan& plan, std::byte* dst, const std::byte* src);

// The same for sums of items of that width. Adjacent items become one wider item if all are aligned to it.
std::vector<DevicePlan> device_sums(const Plan& plan, std::byte* dst, const std::byte* src);

// Describes the plan's kernel and its loops, one per line.
std::string to_string(const DevicePlan& plan);

}  // namespace backslice::cuda
