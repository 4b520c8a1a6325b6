#include "kernels/slice/device_plan.h"

#include <algorithm>

#include "plan/split.h"

namespace backslice::cuda {
namespace {

constexpr std::int64_t kMostItems = (std::int64_t{1} << 31) - 64;  // with those of a chunk on either side, 31 bits
constexpr std::int64_t kWidest = 16;

// A plan on its way to the device: its loops, in units of `width` bytes.
struct Draft {
  std::vector<Loop> loops;
  std::int64_t width;

  bool takes_nothing() const {
    return std::any_of(loops.begin(), loops.end(), [](const Loop& loop) { return loop.count == 0; });
  }
  std::int64_t items() const {
    std::int64_t items = 1;
    for (const Loop& loop : loops) items *= loop.extent;
    return items;
  }
};

// The lowest bit in which any address or step of the plan differs from a multiple of the widest item.
std::int64_t alignment(const Draft& draft, const std::byte* dst, const std::byte* src, std::size_t loops) {
  std::uint64_t bits = address(dst) | static_cast<std::uint64_t>(kWidest);
  const bool reads = !draft.takes_nothing();
  if (reads) bits |= address(src);
  for (std::size_t i = 0; i < loops; ++i) {
    bits |= static_cast<std::uint64_t>(draft.loops[i].dst_stride);
    if (reads) bits |= static_cast<std::uint64_t>(draft.loops[i].src_stride);
  }
  return static_cast<std::int64_t>(bits & (~bits + 1));
}

// Adds the loop over the units of an item, as part of the loop around it where they run on into each other.
void cut_items(Draft& draft, std::int64_t item_size) {
  const std::int64_t units = item_size / draft.width;
  if (units == 1) return;
  const Loop inner{units, 0, 1, units, draft.width, draft.width};
  if (!draft.loops.empty() && are_adjacent(draft.loops.back(), inner) && can_merge(draft.loops.back(), inner)) {
    draft.loops.back() = merged(draft.loops.back(), inner);
  } else {
    draft.loops.push_back(inner);
  }
}

bool runs_on(const Loop& loop, std::int64_t width) {
  return loop.step == 1 && loop.dst_stride == width && (loop.count == 0 || loop.src_stride == width);
}

// Makes one item of several that lie side by side on both sides, as long as everything else is aligned to it.
void widen(Draft& draft, const std::byte* dst, const std::byte* src) {
  if (draft.loops.empty()) return;
  Loop& last = draft.loops.back();
  const std::int64_t widest = alignment(draft, dst, src, draft.loops.size() - 1);
  while (draft.width < widest && runs_on(last, draft.width) && ((last.extent | last.start | last.count) & 1) == 0) {
    draft.width *= 2;
    last = {last.extent / 2, last.start / 2, 1, last.count / 2, draft.width, last.count == 0 ? 0 : draft.width};
  }
}

bool is_dense(const Draft& draft) {
  std::int64_t expected = draft.width;
  for (std::size_t i = draft.loops.size(); i-- > 0; expected *= draft.loops[i].extent) {
    if (draft.loops[i].dst_stride != expected) return false;
  }
  return true;
}

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

Bounds readable(const Draft& draft, const std::byte* src) {
  if (draft.takes_nothing()) return {};
  Bounds bounds{src, src + draft.width};
  for (const Loop& loop : draft.loops) {
    const std::int64_t reach = (loop.count - 1) * loop.src_stride;
    (reach < 0 ? bounds.first : bounds.last) += reach;
  }
  return bounds;
}

DevicePlan finished(const Draft& draft, std::byte* dst, const std::byte* src) {
  DevicePlan made;
  made.dst = dst;
  made.src = src;
  made.readable = readable(draft, src);
  made.items = static_cast<std::uint32_t>(draft.items());
  made.width = static_cast<std::int32_t>(draft.width);
  made.is_dense = is_dense(draft);
  for (const Loop& loop : draft.loops) made.loop[made.loops++] = device_loop(loop);
  return made;
}

void add_plans(const Plan& plan, std::byte* first_dst, const std::byte* first_src, bool sums,
               std::vector<DevicePlan>& made) {
  if (plan.is_empty()) return;
  std::byte* dst = first_dst + plan.dst_offset();
  const std::byte* src = first_src + plan.src_offset();
  Draft draft{{plan.loops().begin(), plan.loops().end()}, plan.item_size()};
  if (!sums) {
    draft.width = std::min(alignment(draft, dst, src, draft.loops.size()), plan.item_size() & -plan.item_size());
    cut_items(draft, plan.item_size());
  }
  widen(draft, dst, src);
  if (draft.items() <= kMostItems) return made.push_back(finished(draft, dst, src));
  const std::int64_t pieces = draft.items() / (kMostItems / 2) + 1;
  for (const Plan& part : split(plan, pieces)) add_plans(part, first_dst, first_src, sums, made);
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

}  // namespace backslice::cuda
