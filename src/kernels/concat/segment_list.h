// SegmentList: the tables of a concatenation on the host, before they are copied to a device.
#pragma once

#include <span>
#include <vector>

#include "kernels/concat/device_segments.h"
#include "kernels/concat/kernel.h"
#include "kernels/cuda/portable.h"

namespace backslice::cuda {

// The numbers of bytes that can be copied at once, best first.
inline constexpr int kCopyUnits[] = {16, 4, 2, 1};

// Segments that are adjacent in memory become one.
class SegmentList {
 public:
  SegmentList(const std::byte* dst, std::span<const Segment> segments, std::span<const Sum> sums);

  std::int64_t count() const { return static_cast<std::int64_t>(sources_.size()); }
  std::int64_t bytes() const { return begins_.back(); }
  std::int64_t tiles() const { return static_cast<std::int64_t>(firsts_.size()) - 1; }
  const std::byte* source(std::size_t segment) const { return sources_[segment]; }
  bool adds() const { return !terms_.empty(); }

  // Whether this divides all addresses and sizes.
  bool is_multiple_of(int bytes) const { return bits_ % static_cast<std::uint64_t>(bytes) == 0; }

  // Returns how many bytes are copied at once, and in how many bytes numbers are added.
  int copied_at_once() const {
    return first_of(kCopyUnits, [this](int unit) { return is_multiple_of(unit); });
  }
  int added_at_once(int number) const;

  // All tables in one block of memory, and their addresses in a copy of it.
  std::vector<std::int64_t> packed() const;
  SegmentTable table(std::byte* dst, const std::byte* packed_copy) const;

 private:
  void push(const std::byte* source, std::int64_t bytes, bool may_go_on);
  void cut();

  std::int64_t lead_;
  std::uint64_t bits_;
  std::vector<std::int64_t> begins_{0}, firsts_, first_terms_{0};
  std::vector<const std::byte*> sources_, terms_;
};

}  // namespace backslice::cuda
