#include "kernels/concat/segment_list.h"

#include <cstring>

namespace backslice::cuda {

static_assert(sizeof(const std::byte*) == sizeof(std::int64_t));

SegmentList::SegmentList(const std::byte* dst, std::span<const Segment> segments, std::span<const Sum> sums)
    : lead_(static_cast<std::int64_t>(address(dst) % kVectorBytes)), bits_(address(dst)) {
  bool may_go_on = false;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const bool is_sum = !sums.empty() && sums[0].segment == i;
    if (segments[i].bytes > 0) {
      push(segments[i].first, segments[i].bytes, may_go_on && !is_sum);
      may_go_on = !is_sum;
      if (is_sum) {
        for (const std::byte* term : sums[0].terms) {
          terms_.push_back(term);
          bits_ |= address(term);
        }
      }
      first_terms_.resize(sources_.size() + 1, first_terms_.back());
      first_terms_.back() = static_cast<std::int64_t>(terms_.size());
    }
    if (is_sum) sums = sums.subspan(1);
  }
  cut();
}

void SegmentList::push(const std::byte* source, std::int64_t bytes, bool may_go_on) {
  bits_ |= address(source) | static_cast<std::uint64_t>(bytes);
  if (may_go_on) {
    const std::byte* last = sources_.back();
    const std::int64_t length = begins_.back() - begins_[begins_.size() - 2];
    if (source == nullptr ? last == nullptr : last != nullptr && source == last + length) {
      begins_.back() += bytes;
      return;
    }
  }
  begins_.push_back(begins_.back() + bytes);
  sources_.push_back(source);
}

void SegmentList::cut() {
  if (bytes() == 0) return firsts_.push_back(0);
  std::int64_t segment = 0;
  for (std::int64_t at = 0; at < bytes(); at += kTileBytes - (at == 0 ? lead_ : 0)) {
    while (begins_[static_cast<std::size_t>(segment) + 1] <= at) ++segment;
    firsts_.push_back(segment);
  }
  firsts_.push_back(count() - 1);
}

int SegmentList::added_at_once(int number) const {
  int width = 16;
  while (width > number && !is_multiple_of(width)) width /= 2;
  return width;
}

std::vector<std::int64_t> SegmentList::packed() const {
  std::vector<std::int64_t> all;
  all.reserve(begins_.size() + sources_.size() + firsts_.size() + (adds() ? first_terms_.size() + terms_.size() : 0));
  const auto append = [&](const auto& list) {
    const std::size_t at = all.size();
    all.resize(at + list.size());
    if (!list.empty()) std::memcpy(all.data() + at, list.data(), list.size() * sizeof(std::int64_t));
  };
  append(begins_);
  append(sources_);
  append(firsts_);
  if (adds()) {
    append(first_terms_);
    append(terms_);
  }
  return all;
}

SegmentTable SegmentList::table(std::byte* dst, const std::byte* packed_copy) const {
  const auto take = [&](std::size_t items) {
    const std::byte* taken = packed_copy;
    packed_copy += items * sizeof(std::int64_t);
    return taken;
  };
  SegmentTable table{dst, count(), bytes(), lead_, nullptr, nullptr, nullptr, nullptr, nullptr};
  table.begin = reinterpret_cast<const std::int64_t*>(take(begins_.size()));
  table.source = reinterpret_cast<const std::byte* const*>(take(sources_.size()));
  table.first = reinterpret_cast<const std::int64_t*>(take(firsts_.size()));
  if (!adds()) return table;
  table.first_term = reinterpret_cast<const std::int64_t*>(take(first_terms_.size()));
  table.terms = reinterpret_cast<const std::byte* const*>(take(terms_.size()));
  return table;
}

}  // namespace backslice::cuda
