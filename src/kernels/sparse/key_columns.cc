#include "kernels/sparse/key_columns.h"

#include <bit>

namespace backslice::cuda {

std::vector<KeyColumns> key_columns(const IndexBounds& box, int rank) {
  std::vector<KeyColumns> steps;
  KeyColumns step{rank, rank, 0};
  std::uint64_t positions = 1;  // of the columns of this step; never 0
  for (int axis = rank - 1; axis >= 0; --axis) {
    const std::uint64_t reach = static_cast<std::uint64_t>(box.high[axis]) - static_cast<std::uint64_t>(box.low[axis]);
    std::uint64_t more;
    const bool fits = reach + 1 != 0 && !__builtin_mul_overflow(positions, reach + 1, &more);
    if (!fits && step.first < step.end) {
      steps.push_back(step);
      step = {axis + 1, axis + 1, 0};
      positions = 1;
    }
    step.first = axis;
    step.weight[axis] = positions;
    if (reach + 1 == 0) {  // the whole of int64: a step of its own
      step.bits = 64;
      steps.push_back(step);
      step = {axis, axis, 0};
      positions = 1;
      continue;
    }
    positions *= reach + 1;
    step.bits = static_cast<int>(std::bit_width(positions - 1));
  }
  if (step.first < step.end || steps.empty()) steps.push_back(step);
  return steps;
}

}  // namespace backslice::cuda
