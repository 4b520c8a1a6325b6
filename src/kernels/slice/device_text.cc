#include "kernels/slice/device_text.h"

#include "core/errors.h"
#include "kernels/slice/device_variants.h"

namespace backslice::cuda {
namespace {

// What a thread puts together, as far as the plan decides it.
const char* what_a_part_is(const FillVariant& variant, const DevicePlan& plan) {
  if (variant.grain == Grain::Apart) return "16 bytes, those that are taken first";
  if (variant.grain == Grain::Item) return "one item";
  if (plan.readable.first == nullptr) return "16 bytes of zeros";
  if (plan.loops == 0) return "16 bytes";
  const DeviceLoop& innermost = plan.loop[plan.loops - 1];
  const bool has_steps = innermost.step.divisor != 1, is_narrow = plan.width <= kWidestSpread;
  if (runs_forwards(innermost, plan.width) && !has_steps) return "16 bytes, copied";
  if (runs_backwards(innermost, plan.width) && !has_steps) return "16 bytes, reversed";
  if (runs_forwards(innermost, plan.width) && is_narrow) return "16 bytes, spread";
  return "16 bytes, item by item";
}

}  // namespace

std::string to_string(const DevicePlan& plan) {
  const FillVariant& variant = fill_variant(plan);
  std::string text =
      join("kernel ", to_string(variant), ": ", variant.parts(plan), " parts of ", what_a_part_is(variant, plan), "\n");
  for (int i = 0; i < plan.loops; ++i) {
    const DeviceLoop& loop = plan.loop[i];
    text += join("  for ", loop.extent.divisor, " positions ", loop.dst_stride, " bytes apart: take ", loop.count,
                 " from position ", loop.start, " by ", loop.step.divisor, ", ", loop.src_stride, " bytes apart\n");
  }
  return text;
}

}  // namespace backslice::cuda
