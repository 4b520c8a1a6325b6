#include "core/overlap.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace backslice {
namespace {

// Sums of byte distances: two spans of up to 2^63 bytes each fit with room to spare.
using Wide = __int128;

// coefficient * x with 0 <= x <= limit.
struct Term {
  std::int64_t coefficient;
  std::int64_t limit;
};

// Looks for integers x_i in their limits with sum coefficient_i * x_i = target, largest coefficient first.
class Search {
 public:
  explicit Search(std::vector<Term> terms) : terms_(std::move(terms)) {
    std::erase_if(terms_, [](const Term& t) { return t.limit == 0 || t.coefficient == 0; });
    std::sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.coefficient > b.coefficient; });
    reach_.resize(terms_.size() + 1, 0);
    divisor_.resize(terms_.size() + 1, 0);
    for (std::size_t i = terms_.size(); i-- > 0;) {
      reach_[i] = reach_[i + 1] + Wide{terms_[i].coefficient} * terms_[i].limit;
      divisor_[i] = std::gcd(divisor_[i + 1], terms_[i].coefficient);
    }
  }

  // True also when the work ran out before an answer was found.
  bool may_reach(Wide target) { return visit(0, target); }

 private:
  static constexpr int kMaxWork = 200'000;

  bool visit(std::size_t i, Wide target) {
    if (target < 0 || target > reach_[i]) return false;
    if (target == 0) return true;
    if (target % divisor_[i] != 0) return false;
    const Term term = terms_[i];
    // The rest must be able to make up what this term leaves: reach_[i + 1] bounds x from below.
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

// A layout as terms counted from its lowest byte: which bytes does it touch?
struct Extent {
  Wide lowest = 0;  // offset of the lowest byte from the first element
  std::vector<Term> terms;
};

Extent extent_of(const Layout& layout) {
  Extent extent;
  for (int axis = 0; axis < layout.shape.rank(); ++axis) {
    const std::int64_t stride = layout.strides[axis], limit = layout.shape[axis] - 1;
    if (stride < 0) extent.lowest += Wide{stride} * limit;
    extent.terms.push_back({std::abs(stride), limit});
  }
  extent.terms.push_back({1, layout.item_size - 1});
  return extent;
}

Wide reach(const std::vector<Term>& terms) {
  return std::accumulate(terms.begin(), terms.end(), Wide{0},
                         [](Wide sum, const Term& t) { return sum + Wide{t.coefficient} * t.limit; });
}

bool has_no_bytes(const Layout& layout) { return layout.shape.elements() == 0 || layout.item_size == 0; }

}  // namespace

bool overlaps_itself(const Layout& layout) {
  if (has_no_bytes(layout)) return false;
  std::vector<Term> axes;
  for (int axis = 0; axis < layout.shape.rank(); ++axis) {
    if (layout.shape[axis] > 1) axes.push_back({std::abs(layout.strides[axis]), layout.shape[axis] - 1});
  }
  std::sort(axes.begin(), axes.end(), [](const Term& a, const Term& b) { return a.coefficient > b.coefficient; });
  // Two elements differ by d_i along each axis; call the first axis where they differ `first` and take d_first >= 1.
  // The others range over [-limit, limit], the bytes within an item over (-size, size); shifted to start at zero
  // they are terms of a search that must not reach the shifted zero.
  for (std::size_t first = 0; first < axes.size(); ++first) {
    std::vector<Term> terms{{axes[first].coefficient, axes[first].limit - 1}};
    Wide target = -Wide{axes[first].coefficient};
    for (std::size_t i = first + 1; i < axes.size(); ++i) {
      terms.push_back({axes[i].coefficient, 2 * axes[i].limit});
      target += Wide{axes[i].coefficient} * axes[i].limit;
    }
    terms.push_back({1, 2 * (layout.item_size - 1)});
    target += layout.item_size - 1;
    if (Search(std::move(terms)).may_reach(target)) return true;
  }
  return false;
}

bool overlap(const ConstView& a, const ConstView& b) {
  if (has_no_bytes(a.layout) || has_no_bytes(b.layout)) return false;
  Extent in_a = extent_of(a.layout);
  const Extent in_b = extent_of(b.layout);
  const Wide low_a = Wide{reinterpret_cast<std::intptr_t>(a.data)} + in_a.lowest;
  const Wide low_b = Wide{reinterpret_cast<std::intptr_t>(b.data)} + in_b.lowest;
  const Wide reach_b = reach(in_b.terms);
  if (low_a + reach(in_a.terms) < low_b || low_b + reach_b < low_a) return false;
  // low_a + (terms of a) = low_b + (terms of b); with each y of b replaced by limit - y all signs are positive.
  std::vector<Term> terms = std::move(in_a.terms);
  terms.insert(terms.end(), in_b.terms.begin(), in_b.terms.end());
  return Search(std::move(terms)).may_reach(low_b + reach_b - low_a);
}

}  // namespace backslice
