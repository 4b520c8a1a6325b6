#include "slice_output.h"

#include <cstdint>

#include "backslice/slice.h"
#include "data_types.h"

namespace backslice::tensorflow {
namespace {

constexpr std::uintptr_t kAlignment = 64;  // what TensorFlow's kernels expect of every tensor

bool are_rows(const Selection& selection) {
  const int rank = selection.shape().rank();
  if (rank == 0 || selection.axis(0).step != 1) return rank == 0;
  for (int axis = 1; axis < rank; ++axis)
    if (!selection.is_whole(axis)) return false;
  return true;
}

bool is_aligned(const std::byte* data) { return reinterpret_cast<std::uintptr_t>(data) % kAlignment == 0; }

}  // namespace

Status set_slice(Call& call, int output, const Selection& selection, const ConstView& x, int data_type) {
  if (data_type != kString && selection.result_shape().elements() > 0 && are_rows(selection)) {
    const ConstView part = select(selection, x);
    if (is_aligned(part.data)) return call.share_input(output, 0, part);
  }
  return call.set_output(output, data_type, slice(selection, x));
}

}  // namespace backslice::tensorflow
