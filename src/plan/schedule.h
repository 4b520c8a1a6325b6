// Schedule: what will run, as a value.
//
// The plan says which bytes go where, the strategy how the destination is written, the work how long that takes, and so
// into how many pieces it is cut for a number of threads. Kernels run a schedule, and cost() and explain() tell it:
// what is told is what runs. Making one touches no tensor memory.
//
//     the gradient of x[::2] of shape [4096, 4096] float32:   streaming, 64 MiB of work, 16 pieces for 4 threads
#pragma once

#include "backslice/context.h"
#include "backslice/slice_gradient.h"
#include "backslice/strategy.h"
#include "plan/cut.h"
#include "plan/plan.h"

namespace backslice {

// How a destination is written.
enum class Stores {
  Ordinary,
  Streaming,  // past the caches
};

// How a destination is written: all of a schedule but its plan, for work that has none.
struct ExecutionPolicy {
  Strategy strategy = Strategy::Nothing;
  Stores stores = Stores::Ordinary;
  std::int64_t work = 0;       // in bytes that are written at the speed of memory; 0 where it is not to be cut
  bool in_huge_pages = false;  // of fresh zeros: what is written lies so close together that huge pages cost less

  // Into how many pieces that many threads cut it, where `least` is how much work is worth a second one. At least one.
  std::int64_t pieces(int threads, std::int64_t least = kParallelBytes) const {
    return pieces_for(work, threads, least);
  }
  std::int64_t pieces(const TaskRunner& tasks, std::int64_t least) const { return pieces_for(work, tasks, least); }
};

// What an allocator says of memory that is zero already: nothing, that it costs what is touched, or also that it may
// have huge pages.
enum class FreeZeros { None, AsTouched, InAnyPages };

struct Schedule : ExecutionPolicy {
  // With the plan made in place: it is too large to be moved about in every call.
  template <class MakePlan>
  explicit Schedule(const MakePlan& make_plan) : plan(make_plan()) {}

  Plan plan;
};

// For elements of that dtype.

// y = x[selection]
Schedule schedule_slice(const Selection& selection, const Layout& y, const Layout& x, DType dtype);

// Its gradient, into existing memory.
Schedule schedule_gradient(const Selection& selection, const Layout& dx, const Layout& dy, Write write, DType dtype);

// Its gradient, into memory that is still to be allocated, contiguous: zeroed where the strategy is FreshZeros.
Schedule schedule_new_gradient(const Selection& selection, const Layout& dy, FreeZeros free_zeros, DType dtype);

// `whole` is the size in bytes of the tensor that dst is a part of, where that is larger. A part of what is larger than
// the caches is not in them either, however small it is.
Schedule schedule_copy(const Layout& dst, const Layout& src, DType dtype, std::int64_t whole = 0);
Schedule schedule_zero(const Layout& dst, DType dtype, std::int64_t whole = 0);
Schedule schedule_addition(const Layout& dst, const Layout& src, DType dtype);

// -- Work without a plan

// Writing so many bytes, each of which takes as long as copying `work_per_byte`.
ExecutionPolicy policy_for(std::int64_t bytes, std::int64_t work_per_byte = 1);

// The sum of many slices, `disjoint` where no two of them meet: into existing memory, or memory still to be
// allocated, as above.
ExecutionPolicy policy_for_sum(std::span<const SliceGradient> slices, const Layout& dx, Write write, bool disjoint,
                               DType dtype);
ExecutionPolicy policy_for_new_sum(std::span<const SliceGradient> slices, const Layout& dx, FreeZeros free_zeros,
                                   bool disjoint, DType dtype);

}  // namespace backslice
