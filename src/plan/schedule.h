// Schedule: the work that will run, as a value.
//
// The plan says which bytes go where, and the strategy how the destination is written. The work says how long that
// takes, and so into how many pieces it is cut for a number of threads. Kernels run a schedule, and cost() and
// explain() describe it: the description is always of the work that runs. Making a schedule touches no tensor memory.
//
//     the gradient of x[::2] of shape [4096, 4096] float32:   streaming, 64 MiB of work, 16 pieces for 4 threads
#pragma once

#include "backslice/context.h"
#include "backslice/slice_gradient.h"
#include "backslice/strategy.h"
#include "plan/cut.h"
#include "plan/plan.h"

namespace backslice {

// Which stores write a destination.
enum class Stores {
  Ordinary,
  Streaming,  // bypass the caches
};

// How a destination is written: all of a schedule except its plan. Used alone for work without a plan.
struct ExecutionPolicy {
  Strategy strategy = Strategy::Nothing;
  Stores stores = Stores::Ordinary;
  std::int64_t work = 0;       // in bytes that are written at the speed of memory; 0 where it is not to be cut
  bool in_huge_pages = false;  // for fresh zeros: the written bytes are so close together that huge pages cost less

  // Returns the number of pieces for that many threads, at least one. `least` is how much work is worth a second
  // thread.
  std::int64_t pieces(int threads, std::int64_t least = kParallelBytes) const {
    return pieces_for(work, threads, least);
  }
  std::int64_t pieces(const TaskRunner& tasks, std::int64_t least) const { return pieces_for(work, tasks, least); }
};

// The cost of an allocator's zeros: as for other memory, only the touched pages, or also huge pages if that is cheaper.
enum class FreeZeros { None, AsTouched, InAnyPages };

// Whether a selection of zeros that have not been touched needs at least half of the memory of its huge pages. Then
// these cost a fraction of the time, and at most twice the memory.
bool fills_huge_pages(const Selection& selection, const Layout& zeros);

struct Schedule : ExecutionPolicy {
  // Makes the plan in place, since it is too large to be moved in every call.
  template <class MakePlan>
  explicit Schedule(const MakePlan& make_plan) : plan(make_plan()) {}

  Plan plan;
};

// All of these schedule elements of that dtype.

// y = x[selection]
Schedule schedule_slice(const Selection& selection, const Layout& y, const Layout& x, DType dtype);

// Schedules its gradient, into existing memory.
Schedule schedule_gradient(const Selection& selection, const Layout& dx, const Layout& dy, Write write, DType dtype);

// Schedules its gradient, into contiguous memory that is still to be allocated, zeroed if the strategy is FreshZeros.
Schedule schedule_new_gradient(const Selection& selection, const Layout& dy, FreeZeros free_zeros, DType dtype);

// `whole` is the size in bytes of the tensor that contains dst, if that is larger. A part of a tensor larger than the
// caches is not in the caches, however small it is.
Schedule schedule_copy(const Layout& dst, const Layout& src, DType dtype, std::int64_t whole = 0);
Schedule schedule_zero(const Layout& dst, DType dtype, std::int64_t whole = 0);
Schedule schedule_addition(const Layout& dst, const Layout& src, DType dtype);

// -- Work without a plan

// Returns the policy for writing so many bytes, each of which takes as long as copying `work_per_byte`.
ExecutionPolicy policy_for(std::int64_t bytes, std::int64_t work_per_byte = 1);

// Returns the policy for the sum of many slices, into existing memory or memory still to be allocated. `disjoint` says
// that no two slices overlap.
ExecutionPolicy policy_for_sum(std::span<const SliceGradient> slices, const Layout& dx, Write write, bool disjoint,
                               DType dtype);
ExecutionPolicy policy_for_new_sum(std::span<const SliceGradient> slices, const Layout& dx, FreeZeros free_zeros,
                                   bool disjoint, DType dtype);

}  // namespace backslice
