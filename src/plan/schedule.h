// Schedule: what will run, as a value.
//
// The plan says which bytes go where, the strategy how the destination is written, the pieces into how many parts the
// work is cut. Kernels run a schedule, and cost() and explain() tell it: what is told is what runs. Making one touches
// no tensor memory.
#pragma once

#include "backslice/context.h"
#include "backslice/strategy.h"
#include "plan/plan.h"

namespace backslice {

// How a destination is written.
enum class Stores {
  Ordinary,
  Streaming,  // past the caches
};

// A destination larger than the caches would only push everything else out of them.
Stores stores_for(std::int64_t bytes);

struct Schedule {
  // With the plan made in place: it is too large to be moved about in every call.
  template <class MakePlan>
  explicit Schedule(const MakePlan& make_plan) : plan(make_plan()) {}

  Plan plan;
  Strategy strategy = Strategy::Nothing;
  Stores stores = Stores::Ordinary;
  std::int64_t pieces = 1;
};

// For elements of that dtype, with that many threads to share the work.

// y = x[selection]
Schedule schedule_slice(const Selection& selection, const Layout& y, const Layout& x, DType dtype, int threads);

// Its gradient, into memory that is there already.
Schedule schedule_gradient(const Selection& selection, const Layout& dx, const Layout& dy, Write write, DType dtype,
                           int threads);

// Its gradient, into memory that is still to be allocated, contiguous: zeroed where the strategy is FreshZeros.
Schedule schedule_new_gradient(const Selection& selection, const Layout& dy, bool zeros_are_free, DType dtype,
                               int threads);

Schedule schedule_copy(const Layout& dst, const Layout& src, DType dtype, int threads);
Schedule schedule_addition(const Layout& dst, const Layout& src, DType dtype, int threads);
Schedule schedule_zero(const Layout& dst, DType dtype, int threads);

}  // namespace backslice
