#include "kernels/slice/device_plan.h"

#include <algorithm>

#include "core/errors.h"
#include "kernels/nest/units.h"
#include "kernels/slice/device_rows.h"
#include "plan/split.h"

namespace backslice::cuda {
namespace {

constexpr std::int64_t kMostItems = (std::int64_t{1} << 31) - 64;  // with the items of a chunk on either side, 31 bits

DeviceLoop device_loop(const Loop& loop) {
  DeviceLoop made;
  made.extent = FastDivisor(loop.extent);
  made.step = FastDivisor(loop.step);
  made.start = static_cast<std::uint32_t>(loop.start);
  made.count = static_cast<std::uint32_t>(loop.count);
  made.dst_stride = loop.dst_stride;
  made.src_stride = loop.src_stride;
  return made;
}

Bounds readable(const CommonAxes& common, std::int64_t width) {
  if (common.slices() == 0) return {};
  Bounds bounds{common.sources[0], common.sources[0] + width};
  for (const AxisPart& part : common.parts) {
    const std::int64_t reach = (part.count - 1) * part.src_stride;
    (reach < 0 ? bounds.first : bounds.last) += reach;
  }
  return bounds;
}

DevicePlan finished(const CommonAxes& common, std::int64_t width, std::byte* dst, const std::byte* src) {
  DevicePlan made;
  made.dst = dst;
  made.src = src;
  made.readable = readable(common, width);
  made.items = static_cast<std::uint32_t>(common.positions());
  made.width = static_cast<std::int32_t>(width);
  made.is_dense = is_dense(common, width);
  for (int k = 0; k < common.rank(); ++k) {
    const auto [extent, dst_stride] = common.axis(k);
    made.loop[made.loops++] =
        device_loop(common.slices() > 0 ? common.loop(0, k) : Loop{extent, 0, 1, 0, dst_stride, 0});
  }
  return made;
}

void add_plans(const Plan& plan, std::byte* first_dst, const std::byte* first_src, bool sums,
               std::vector<DevicePlan>& made) {
  if (plan.is_empty()) return;
  std::byte* dst = first_dst + plan.dst_offset();
  const std::byte* src = first_src + plan.src_offset();
  CommonAxes common = axes_of(plan, src);
  const std::int64_t width = count_in_units(common, plan.item_size(), !sums, dst);
  if (common.positions() <= kMostItems) return made.push_back(finished(common, width, dst, src));
  const std::int64_t pieces = common.positions() / (kMostItems / 2) + 1;
  for (const Plan& part : split(plan, pieces)) add_plans(part, first_dst, first_src, sums, made);
}

// Describes the work of a thread, as far as the plan determines it.
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

DevicePlan taken_of(const DevicePlan& plan) {
  DevicePlan made = plan;
  made.items = 1;
  for (int i = 0; i < plan.loops; ++i) {
    const DeviceLoop& loop = plan.loop[i];
    made.dst += loop.start * loop.dst_stride;
    made.items *= loop.count;
    made.loop[i] = {
        FastDivisor(std::max(loop.count, 1u)), {}, 0, loop.count, loop.step.divisor * loop.dst_stride, loop.src_stride};
  }
  made.is_dense = false;
  return made;
}

std::vector<DevicePlan> device_plans(const Plan& plan, std::byte* dst, const std::byte* src) {
  std::vector<DevicePlan> made;
  add_plans(plan, dst, src, false, made);
  return made;
}

std::vector<DevicePlan> device_sums(const Plan& plan, std::byte* dst, const std::byte* src) {
  std::vector<DevicePlan> made;
  add_plans(plan, dst, src, true, made);
  return made;
}

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
