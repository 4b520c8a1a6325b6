#include "core/overlap.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace backslice {
namespace {

// Sums of byte distances: two spans of up to 2^63 bytes each fit easily.
__extension__ typedef __int128 Wide;

// The term coefficient * x with 0 <= x <= limit.
struct Term {
  std::int64_t coefficient;
  Wide limit;
};

bool outer_first(const Term& a, const Term& b) { return a.coefficient > b.coefficient; }

// Looks for integers x_i in their limits with sum coefficient_i * x_i = target, largest coefficient first.
class Search {
 public:
  explicit Search(std::vector<Term> terms) : terms_(std::move(terms)) {
    std::erase_if(terms_, [](const Term& t) { return t.limit == 0 || t.coefficient == 0; });
    std::sort(terms_.begin(), terms_.end(), outer_first);
    reach_.resize(terms_.size() + 1, 0);
    divisor_.resize(terms_.size() + 1, 0);
    for (std::size_t i = terms_.size(); i-- > 0;) {
      reach_[i] = reach_[i + 1] + Wide{terms_[i].coefficient} * terms_[i].limit;
      divisor_[i] = std::gcd(divisor_[i + 1], terms_[i].coefficient);
    }
  }

  // Returns true also if the work bound was reached before an answer was found.
  bool may_reach(Wide target) { return visit(0, target); }

 private:
  static constexpr int kMaxWork = 200'000;

  bool visit(std::size_t i, Wide target) {
    if (target < 0 || target > reach_[i]) return false;
    if (target == 0) return true;
    if (target % divisor_[i] != 0) return false;
    const Term term = terms_[i];
    // The rest must be able to reach what this term leaves: reach_[i + 1] bounds x from below.
    const Wide shortfall = target - reach_[i + 1];
    const Wide lowest = shortfall <= 0 ? 0 : (shortfall + term.coefficient - 1) / term.coefficient;
    for (Wide x = std::min<Wide>(term.limit, target / term.coefficient); x >= lowest; --x) {
      if (++work_ > kMaxWork || visit(i + 1, target - x * term.coefficient)) return true;
    }
    return false;
  }

  std::vector<Term> terms_;
  std::vector<Wide> reach_;            // of the terms from i on
  std::vector<std::int64_t> divisor_;  // their greatest common divisor
  int work_ = 0;
};

// The bytes that a layout touches, counted from its lowest, as terms.
void append_terms(const Layout& layout, std::vector<Term>& terms) {
  for (int axis = 0; axis < layout.shape.rank(); ++axis) {
    terms.push_back({std::abs(layout.strides[axis]), layout.shape[axis] - 1});
  }
  terms.push_back({1, layout.item_size - 1});
}

bool has_no_bytes(const Layout& layout) { return layout.shape.elements() == 0 || layout.item_size == 0; }

// The axes with more than one position, each with its step and its number of positions.
InlineVector<Term> steps_of(const Layout& layout) {
  InlineVector<Term> steps;
  for (int axis = 0; axis < layout.shape.rank(); ++axis) {
    if (layout.shape[axis] > 1) steps.push_back({std::abs(layout.strides[axis]), layout.shape[axis] - 1});
  }
  return steps;
}

// Whether each axis steps over the whole span of the axes after it, as in all memory that is walked in the order of the
// axes. For most layouts this suffices to prove that elements are distinct.
bool are_axes_nested(const Layout& layout) {
  Wide within = layout.item_size;
  for (int axis = layout.shape.rank() - 1; axis >= 0; --axis) {
    if (layout.shape[axis] <= 1) continue;
    const Wide stride = layout.strides[axis], step = stride < 0 ? -stride : stride;
    if (step < within) return false;
    within += step * (layout.shape[axis] - 1);
  }
  return true;
}

// The same for axes in the order of their steps. Precondition: they are sorted by outer_first().
bool are_nested(const InlineVector<Term>& steps, std::int64_t item_size) {
  Wide within = item_size;
  for (int i = steps.size() - 1; i >= 0; --i) {
    if (steps[i].coefficient < within) return false;
    within += steps[i].limit * steps[i].coefficient;
  }
  return true;
}

struct Interval {
  Wide low, high;  // first and last byte
};

Interval interval_of(const std::byte* data, const Layout& layout) {
  Wide low = Wide{reinterpret_cast<std::intptr_t>(data)}, high = low + layout.item_size - 1;
  for (int axis = 0; axis < layout.shape.rank(); ++axis) {
    const Wide reach = Wide{layout.strides[axis]} * (layout.shape[axis] - 1);
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

}  // namespace

bool overlaps_itself(const Layout& layout) {
  if (has_no_bytes(layout) || are_axes_nested(layout)) return false;
  InlineVector<Term> axes = steps_of(layout);
  if (!std::is_sorted(axes.begin(), axes.end(), outer_first)) std::sort(axes.begin(), axes.end(), outer_first);
  if (are_nested(axes, layout.item_size)) return false;
  // Two elements differ by d_i along each axis; call the first axis where they differ `first` and take d_first >= 1.
  // The others range over [-limit, limit], the bytes within an item over (-size, size); shifted to start at zero
  // they are terms of a search that must not reach the shifted zero.
  for (int first = 0; first < axes.size(); ++first) {
    std::vector<Term> terms{{axes[first].coefficient, axes[first].limit - 1}};
    Wide target = -Wide{axes[first].coefficient};
    for (int i = first + 1; i < axes.size(); ++i) {
      terms.push_back({axes[i].coefficient, 2 * axes[i].limit});
      target += Wide{axes[i].coefficient} * axes[i].limit;
    }
    terms.push_back({1, 2 * Wide{layout.item_size - 1}});
    target += layout.item_size - 1;
    if (Search(std::move(terms)).may_reach(target)) return true;
  }
  return false;
}

bool overlap(const std::byte* a, const Layout& layout_a, const std::byte* b, const Layout& layout_b) {
  if (has_no_bytes(layout_a) || has_no_bytes(layout_b)) return false;
  const Interval in_a = interval_of(a, layout_a), in_b = interval_of(b, layout_b);
  if (in_a.high < in_b.low || in_b.high < in_a.low) return false;
  // low_a + (terms of a) = low_b + (terms of b); with each y of b replaced by limit - y all signs are positive.
  std::vector<Term> terms;
  append_terms(layout_a, terms);
  append_terms(layout_b, terms);
  return Search(std::move(terms)).may_reach(in_b.high - in_a.low);
}

}  // namespace backslice
