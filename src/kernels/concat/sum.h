// Sums of whole tensors, by the rule on sums: the first is copied, each later one added to the running sum, in order.
#pragma once

#include <span>
#include <vector>

#include "backslice/view.h"
#include "execute/task_runner.h"
#include "kernels/cpu/rows.h"

namespace backslice {

// A part of a result: where it goes, and what is added up there. No terms: zeros. More than one: can_add(dtype).
// Target and terms are dense, of one dtype and number of elements.
struct Sum {
  std::byte* target;
  std::vector<const std::byte*> terms;
  std::int64_t elements;
};

// Adds dense rows of `count` elements, by vectors where the dtype has them. Null where elements cannot be added.
AddRow addition_of(DType dtype);

// Runs all of them in one pass over memory, for items other than strings.
void run_sums(std::span<const Sum> sums, DType dtype, std::int64_t item_size, const TaskRunner& runner);

}  // namespace backslice
