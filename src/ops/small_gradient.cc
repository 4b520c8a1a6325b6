#include "ops/small_gradient.h"

#include <algorithm>

#include "core/items.h"
#include "ops/call.h"

namespace backslice {
namespace {

// False where nothing is done, since that takes too many runs.
bool zero_small(const View& out) {
  SmallMove all(out.layout.item_size);
  for (int i = 0; i < out.shape().rank(); ++i) {
    all.add_axis(out.shape()[i], out.layout.strides[i], out.layout.strides[i]);
  }
  all.finish();
  if (all.is_short()) all.zero(out.data);
  return all.is_short();
}

}  // namespace

bool is_usual(const Context& context) {
#ifdef __cpp_lib_jthread
  if (context.stop.stop_possible()) return false;
#endif
  return context.executor == nullptr && context.allocator == nullptr && context.cancelled == nullptr &&
         ready_rows() != nullptr;
}

SmallMove small_scatter(const Selection& selection, const Layout& dx, const Layout& dy) {
  SmallMove move(dy.item_size);
  for (int i = 0; i < dx.shape.rank(); ++i) move.skip(selection.axis(i).start * dx.strides[i], 0);
  const Ints result_axes = selection.result_axes();
  for (std::size_t i = 0; i < result_axes.size(); ++i) {
    if (result_axes[i] == Selection::kNewAxis) continue;
    const auto source = static_cast<int>(result_axes[i]);
    const Selection::Axis& axis = selection.axis(source);
    move.add_axis(axis.count, dx.strides[source] * axis.step, dy.strides[static_cast<std::ptrdiff_t>(i)]);
  }
  move.finish();
  return move;
}

bool write_small_gradient(const Selection& selection, const ConstView& dy, const View& out, Write write,
                          const Context& context) {
  const std::int64_t size = std::max<std::int64_t>(1, dy.layout.item_size);
  const std::int64_t out_bytes = std::min(out.elements(), kTuning.small_zeros / size + 1) * size;
  const std::int64_t most = write == Write::Overwrite ? SmallMove::most_selected(out_bytes) : SmallMove::kMostBytes;
  const bool is_small = are_bytes(dy.dtype) && dy.device.is_cpu() && dy.elements() > 0 &&
                        dy.elements() <= most / size && out.shape().rank() <= SmallMove::kMostAxes;
  if (!is_small || !is_usual(context)) return false;
  const SmallMove move = small_scatter(selection, out.layout, dy.layout);
  if (!move.is_short()) return false;
  if (write == Write::Accumulate) return move.add(dy.dtype, out.data, dy.data);
  if (write == Write::Overwrite && !selection.covers_input() && !zero_small(out)) return false;
  move.copy(out.data, dy.data);
  return true;
}

}  // namespace backslice
