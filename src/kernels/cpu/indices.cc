// Sparse indices in vectors. Included once for each target by foreach_target.h; the part under HWY_ONCE is compiled
// once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/indices.cc"
#include "kernels/cpu/indices.h"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>

#include "kernels/cpu/items-inl.h"
#include "kernels/cpu/targets.h"

#ifndef BACKSLICE_KERNELS_CPU_INDICES_ORDER_
#define BACKSLICE_KERNELS_CPU_INDICES_ORDER_
namespace backslice {

// For each set of up to eight lanes their numbers, followed by those of the others.
struct KeptFirst {
  constexpr KeptFirst() {
    for (unsigned bits = 0; bits < 256; ++bits) {
      int at = 0;
      for (bool kept : {true, false}) {
        for (unsigned lane = 0; lane < 8; ++lane) {
          if ((bits >> lane & 1) == kept) order[bits][at++] = lane;
        }
      }
    }
  }
  std::uint32_t order[256][8] = {};
};
inline constexpr KeptFirst kKeptFirst;

}  // namespace backslice
#endif

HWY_BEFORE_NAMESPACE();
namespace backslice::HWY_NAMESPACE {
namespace {

// Rows of kAxes indices of type T, read at any row: one vector per axis, or one index.
template <class T, int kAxes, bool kPacked>
class Rows {
 public:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;

  explicit Rows(IndexPointers pointers) : pointers_(pointers) {}

  // Vectors of SVE cannot be elements of an array: those of missing axes repeat the first.
  HWY_INLINE void load(std::int64_t row, V& a, V& b, V& c, V& e) const {
    const D d;
    if constexpr (!kPacked || HWY_TARGET == HWY_SCALAR) {
      a = hn::LoadU(d, at<0>(row));
      b = hn::LoadU(d, at<1>(row));
      c = hn::LoadU(d, at<2>(row));
      e = hn::LoadU(d, at<3>(row));
#if HWY_TARGET != HWY_SCALAR
    } else if constexpr (kAxes == 2) {
      hn::LoadInterleaved2(d, at<0>(row), a, b);
      c = e = a;
    } else if constexpr (kAxes == 3) {
      hn::LoadInterleaved3(d, at<0>(row), a, b, c);
      e = a;
    } else if constexpr (kAxes == 4) {
      hn::LoadInterleaved4(d, at<0>(row), a, b, c, e);
#endif
    }
  }

  // So much comes between asking for a line and needing it that the machine does not look that far ahead.
  HWY_INLINE void prefetch_after(std::int64_t row) const {
    constexpr std::int64_t kAhead = 2048;  // bytes
    const auto bytes = static_cast<std::int64_t>(hn::Lanes(D())) * kStride;
    for (int axis = 0; axis < (kPacked ? 1 : kAxes); ++axis) {
      const std::byte* const ahead = pointers_.axis[axis] + row * kStride + kAhead;
      for (std::int64_t i = 0; i < bytes; i += kLine) hwy::Prefetch(ahead + i);
    }
  }

  HWY_INLINE T index(std::int64_t row, int axis) const {
    T value;
    std::memcpy(&value, pointers_.axis[axis] + row * kStride, sizeof(T));
    return value;
  }

 private:
  static constexpr std::int64_t kStride = static_cast<std::int64_t>(sizeof(T)) * (kPacked ? kAxes : 1);

  template <int kAxis>
  HWY_INLINE const T* at(std::int64_t row) const {
    return reinterpret_cast<const T*>(pointers_.axis[kAxis < kAxes ? kAxis : 0] + row * kStride);
  }

  IndexPointers pointers_;
};

template <class T, int kAxes>
class Box {
 public:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;

  explicit Box(const IndexBox& box) {
    for (int axis = 0; axis < kAxes; ++axis) {
      low_[axis] = static_cast<T>(box.low[axis]);
      high_[axis] = static_cast<T>(box.high[axis]);
    }
  }

  HWY_INLINE hn::Mask<D> holds(V a, V b, V c, V e) const {
    auto outside = misses<0>(a);
    if constexpr (kAxes > 1) outside = hn::Or(outside, misses<1>(b));
    if constexpr (kAxes > 2) outside = hn::Or(outside, misses<2>(c));
    if constexpr (kAxes > 3) outside = hn::Or(outside, misses<3>(e));
    return hn::Not(outside);
  }

  template <class Rows>
  HWY_INLINE bool holds(const Rows& rows, std::int64_t row) const {
    bool inside = true;
    for (int axis = 0; axis < kAxes; ++axis) {
      const T index = rows.index(row, axis);
      inside &= low_[axis] <= index && index <= high_[axis];
    }
    return inside;
  }

 private:
  template <int kAxis>
  HWY_INLINE hn::Mask<D> misses(V index) const {
    return hn::Or(hn::Lt(index, hn::Set(D(), low_[kAxis])), hn::Gt(index, hn::Set(D(), high_[kAxis])));
  }

  T low_[kAxes], high_[kAxes];
};

// A vector has at most 16 lanes: kLine bytes of 4. Highway may write eight bytes; what is read are those that it must
// have written, as others would have to wait.
template <class D>
HWY_INLINE std::uint32_t bits_of(D d, hn::Mask<D> mask) {
  alignas(8) std::uint8_t bytes[8];
  hn::StoreMaskBits(d, mask, bytes);
  if (hn::Lanes(d) <= 8) return bytes[0];
  std::uint16_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
}

// Sets bits from bit `at` on, a multiple of their number.
HWY_INLINE void put_bits(std::uint32_t new_bits, std::int64_t lanes, std::uint8_t* bits, std::int64_t at) {
  if (lanes > 8) {
    const auto both = static_cast<std::uint16_t>(new_bits);
    std::memcpy(bits + at / 8, &both, sizeof(both));
  } else {
    bits[at / 8] = static_cast<std::uint8_t>(bits[at / 8] | new_bits << (at % 8));
  }
}

template <class T, int kAxes, bool kPacked>
SetBits inside(IndexPointers pointers, std::int64_t count, const IndexBox& in, std::uint8_t* bits) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const Rows<T, kAxes, kPacked> rows(pointers);
  const Box<T, kAxes> box(in);
  std::int64_t row = 0;
  SetBits found;
  for (; row + lanes <= count; row += lanes) {
    hn::Vec<decltype(d)> a, b, c, e;
    rows.load(row, a, b, c, e);
    const std::uint32_t held = bits_of(d, box.holds(a, b, c, e));
    put_bits(held, lanes, bits, row);
    found.add(held, lanes);
  }
  for (; row < count; ++row) {
    const bool held = box.holds(rows, row);
    put_bits(held, 1, bits, row);
    found.add(held, 1);
  }
  return found;
}

// Where the machine has no instruction that moves the lanes that are kept to the front. Highway's Compress does
// without, but GCC makes it build its table at each call.
template <class T>
constexpr bool kCompressByTable =
    !HWY_HAVE_SCALABLE && HWY_TARGET != HWY_SCALAR && !(HWY_TARGET == HWY_AVX3 && sizeof(T) == 4);

// The lanes that are kept, in front. (A function, since masks of SVE cannot be members of a class.)
template <class D>
HWY_INLINE hn::Vec<D> compressed(D d, hn::Vec<D> lanes, hn::Mask<D> kept, std::uint32_t kept_bits) {
  using T = hn::TFromD<D>;
  if constexpr (kCompressByTable<T>) {
    const hn::Rebind<std::uint32_t, D> narrow;
    const auto order = hn::LoadU(narrow, kKeptFirst.order[kept_bits]);
    if constexpr (sizeof(T) == 8) {
      return hn::TableLookupLanes(lanes, hn::IndicesFromVec(d, hn::PromoteTo(hn::RebindToUnsigned<D>(), order)));
    } else {
      return hn::TableLookupLanes(lanes, hn::IndicesFromVec(d, hn::BitCast(hn::RebindToSigned<D>(), order)));
    }
  } else {
    return hn::Compress(lanes, kept);
  }
}

template <class T, int kAxes, bool kPacked>
Followed follow(IndexPointers pointers, std::int64_t count, IndexPointers other_pointers, std::int64_t others_count,
                const IndexBox& in, const std::int64_t* start, std::uint8_t* bits) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const Rows<T, kAxes, kPacked> rows(pointers), others(other_pointers);
  const Box<T, kAxes> box(in);
  Followed done;
  for (; done.rows + lanes <= count && done.found.count + lanes <= others_count; done.rows += lanes) {
    hn::Vec<decltype(d)> a, b, c, e, other_a, other_b, other_c, other_e;
    rows.prefetch_after(done.rows);
    others.prefetch_after(done.found.count);
    rows.load(done.rows, a, b, c, e);
    const auto kept = box.holds(a, b, c, e);
    const std::uint32_t kept_bits = bits_of(d, kept);
    others.load(done.found.count, other_a, other_b, other_c, other_e);
    const auto differ = [&](auto row, auto other, int axis) HWY_ATTR {
      return hn::Ne(compressed(d, hn::Sub(row, hn::Set(d, static_cast<T>(start[axis]))), kept, kept_bits), other);
    };
    auto wrong = differ(a, other_a, 0);
    if constexpr (kAxes > 1) wrong = hn::Or(wrong, differ(b, other_b, 1));
    if constexpr (kAxes > 2) wrong = hn::Or(wrong, differ(c, other_c, 2));
    if constexpr (kAxes > 3) wrong = hn::Or(wrong, differ(e, other_e, 3));
    done.differ = (bits_of(d, wrong) & ((1u << std::popcount(kept_bits)) - 1)) != 0;
    if (done.differ) break;
    put_bits(kept_bits, lanes, bits, done.rows);
    done.found.add(kept_bits, lanes);
  }
  return done;
}

template <class T, int kAxes, bool kPacked>
IndexBox bounds(IndexPointers pointers, std::int64_t count) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const Rows<T, kAxes, kPacked> rows(pointers);
  IndexBox box;
  std::int64_t row = 0;
  if (count >= lanes) {
    V low_a, low_b, low_c, low_e;
    rows.load(0, low_a, low_b, low_c, low_e);
    V high_a = low_a, high_b = low_b, high_c = low_c, high_e = low_e;
    for (row = lanes; row + lanes <= count; row += lanes) {
      V a, b, c, e;
      rows.load(row, a, b, c, e);
      low_a = hn::Min(low_a, a), high_a = hn::Max(high_a, a);
      low_b = hn::Min(low_b, b), high_b = hn::Max(high_b, b);
      low_c = hn::Min(low_c, c), high_c = hn::Max(high_c, c);
      low_e = hn::Min(low_e, e), high_e = hn::Max(high_e, e);
    }
    const auto reduce = [&](V low, V high, int axis) {
      box.low[axis] = hn::GetLane(hn::MinOfLanes(d, low));
      box.high[axis] = hn::GetLane(hn::MaxOfLanes(d, high));
    };
    reduce(low_a, high_a, 0), reduce(low_b, high_b, 1), reduce(low_c, high_c, 2), reduce(low_e, high_e, 3);
  } else {
    for (int axis = 0; axis < kAxes; ++axis) box.low[axis] = box.high[axis] = rows.index(0, axis);
  }
  for (; row < count; ++row) {
    for (int axis = 0; axis < kAxes; ++axis) {
      box.low[axis] = std::min<std::int64_t>(box.low[axis], rows.index(row, axis));
      box.high[axis] = std::max<std::int64_t>(box.high[axis], rows.index(row, axis));
    }
  }
  return box;
}

template <class T, int kAxes, bool kPacked>
constexpr IndexKernels kKernels = {inside<T, kAxes, kPacked>, follow<T, kAxes, kPacked>, bounds<T, kAxes, kPacked>};

// Rows of one axis are a column.
template <class T>
constexpr IndexKernelTable kTable = {
    {kKernels<T, 1, false>, kKernels<T, 2, true>, kKernels<T, 3, true>, kKernels<T, 4, true>},
    {kKernels<T, 1, false>, kKernels<T, 2, false>, kKernels<T, 3, false>, kKernels<T, 4, false>},
};

}  // namespace

void set_indices(RowKernels& rows) {
  rows.indices32 = kTable<std::int32_t>;
  rows.indices64 = kTable<std::int64_t>;
}

}  // namespace backslice::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backslice {

void set_index_rows(std::int64_t target, RowKernels& rows) {
  static constexpr PerTarget<void(RowKernels&)> kSetters[] = BACKSLICE_PER_TARGET(set_indices);
  call_for(target, kSetters, rows);
}

}  // namespace backslice
#endif
