#include "kernels/nest/units.h"

#include <algorithm>

namespace backslice {
namespace {

std::uint64_t bits_of(std::int64_t stride) { return static_cast<std::uint64_t>(stride); }
std::uint64_t bits_of(const std::byte* address) { return reinterpret_cast<std::uintptr_t>(address); }

// The widest unit by which everything is aligned but the steps along axes that are left out.
std::int64_t alignment(const CommonAxes& common, const std::byte* dst, int axes) {
  std::uint64_t bits = bits_of(dst);
  for (const std::byte* source : common.sources) bits |= bits_of(source);
  for (int k = 0; k < axes; ++k) {
    bits |= bits_of(common.axis(k).dst_stride);
    for (std::int64_t s = 0; s < common.slices(); ++s) bits |= bits_of(common.slice(s)[k].src_stride);
  }
  return unit_width(bits);
}

// Whether the innermost axis goes on in units on both sides, for all slices.
bool runs_on(const CommonAxes& common, std::int64_t units, std::int64_t width) {
  const Loop inner{units, 0, 1, units, width, width};
  if (common.rank() == 0 || common.axes.back().dst_stride != units * width) return false;
  for (std::int64_t s = 0; s < common.slices(); ++s) {
    if (!take_one_run(common.loop(s, common.rank() - 1), inner)) return false;
  }
  return true;
}

// The innermost axis counted in units, or one more axis over the units of an item.
void cut_items(CommonAxes& common, std::int64_t units, std::int64_t width) {
  const int last = common.rank() - 1;
  if (runs_on(common, units, width)) {
    common.axes.back() = {common.axes.back().extent * units, width};
    for (std::int64_t s = 0; s < common.slices(); ++s) {
      AxisPart& part = common.parts[static_cast<std::size_t>(s * (last + 1) + last)];
      part = {part.start * units, 1, part.count * units, width};
    }
    return;
  }
  std::vector<AxisPart> parts;
  for (std::int64_t s = 0; s < common.slices(); ++s) {
    parts.insert(parts.end(), common.slice(s), common.slice(s) + common.rank());
    parts.push_back({0, 1, units, width});
  }
  common.axes.push_back({units, width});
  common.parts = std::move(parts);
}

// Whether the innermost axis can be counted in pairs.
bool is_even(const CommonAxes& common, std::int64_t width) {
  const auto& [extent, dst_stride] = common.axes.back();
  if (extent % 2 != 0 || dst_stride != width) return false;
  for (std::int64_t s = 0; s < common.slices(); ++s) {
    const AxisPart& part = common.slice(s)[common.rank() - 1];
    if (part.step != 1 || part.src_stride != width || ((part.start | part.count) & 1) != 0) return false;
  }
  return true;
}

std::int64_t widened(CommonAxes& common, const std::byte* dst, std::int64_t width) {
  if (common.rank() == 0) return width;
  const std::int64_t widest = alignment(common, dst, common.rank() - 1);
  for (; width < widest && is_even(common, width); width *= 2) {
    common.axes.back() = {common.axes.back().extent / 2, 2 * width};
    for (std::int64_t s = 0; s < common.slices(); ++s) {
      AxisPart& part = common.parts[static_cast<std::size_t>((s + 1) * common.rank() - 1)];
      part = {part.start / 2, 1, part.count / 2, 2 * width};
    }
  }
  return width;
}

}  // namespace

std::int64_t CommonAxes::positions() const {
  std::int64_t positions = 1;
  for (const Axis& axis : axes) positions *= axis.extent;
  return positions;
}

CommonAxes axes_of(const Plan& plan, const std::byte* src) {
  CommonAxes common;
  bool takes_any = true;
  for (const Loop& loop : plan.loops()) {
    common.axes.push_back({loop.extent, loop.dst_stride});
    common.parts.push_back({loop.start, loop.step, loop.count, loop.src_stride});
    takes_any &= loop.count > 0;
  }
  if (takes_any) {
    common.sources.push_back(src);
  } else {
    common.parts.clear();
  }
  return common;
}

std::int64_t unit_width(std::uint64_t bits) {
  constexpr std::uint64_t kWidest = 16;
  bits |= kWidest;
  return static_cast<std::int64_t>(bits & (~bits + 1));
}

std::int64_t count_in_units(CommonAxes& common, std::int64_t item_size, bool divisible, const std::byte* dst) {
  std::int64_t width = item_size;
  if (divisible) {
    width = std::min(alignment(common, dst, common.rank()), item_size & -item_size);
    if (width < item_size) cut_items(common, item_size / width, width);
  }
  return widened(common, dst, width);
}

bool is_dense(const CommonAxes& common, std::int64_t width) {
  std::int64_t expected = width;
  for (int k = common.rank() - 1; k >= 0; expected *= common.axis(k--).extent) {
    if (common.axis(k).dst_stride != expected) return false;
  }
  return true;
}

}  // namespace backslice
