// Sparse indices in vectors. Included once for each target by foreach_target.h; the part under HWY_ONCE is compiled
// once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/indices.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/cpu/items-inl.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/targets.h"

HWY_BEFORE_NAMESPACE();
namespace backslice::HWY_NAMESPACE {
namespace {

// -- Rows of sparse indices in vectors, and the operations to compare them

// Rows of kAxes indices of type T, read at any row: one vector per axis, or one index.
template <class T, int kAxes, bool kPacked>
class Rows {
 public:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;

  explicit Rows(IndexPointers pointers) : pointers_(pointers) {}

  // Vectors of SVE cannot be elements of an array. The members of missing axes repeat the first.
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

  // Also one vector per axis. For packed rows, vectors hold the indices of all axes in the order of memory.
  HWY_INLINE void load_as_they_lie(std::int64_t row, V& a, V& b, V& c, V& e) const {
    const D d;
    const auto vector = [&](std::int64_t i) HWY_ATTR {
      const T* const packed = at<0>(row) + i * static_cast<std::int64_t>(hn::Lanes(d));
      return hn::LoadU(d, kPacked ? packed : reinterpret_cast<const T*>(pointers_.axis[i] + row * kStride));
    };
    a = vector(0);
    b = vector(kAxes > 1 ? 1 : 0);
    c = vector(kAxes > 2 ? 2 : 0);
    e = vector(kAxes > 3 ? 3 : 0);
  }

  HWY_INLINE T index(std::int64_t row, int axis) const {
    T value;
    std::memcpy(&value, pointers_.axis[axis] + row * kStride, sizeof(T));
    return value;
  }

  HWY_INLINE bool lies_in(const IndexBox& box, std::int64_t row) const {
    bool inside = true;
    for (int axis = 0; axis < kAxes; ++axis) {
      const std::int64_t at_axis = index(row, axis);
      inside &= box.low[axis] <= at_axis && at_axis <= box.high[axis];
    }
    return inside;
  }

  template <int kAxis>
  HWY_INLINE const T* at(std::int64_t row) const {
    return reinterpret_cast<const T*>(pointers_.axis[kAxis < kAxes ? kAxis : 0] + row * kStride);
  }

 private:
  static constexpr std::int64_t kStride = static_cast<std::int64_t>(sizeof(T)) * (kPacked ? kAxes : 1);

  IndexPointers pointers_;
};

// Packed rows that fill vectors can be compared in the order of memory, an index per lane, without a vector per axis.
// ARM separates the axes while loading, and has no instruction that turns a mask into bits.
template <class T, int kAxes, bool kPacked>
constexpr bool kAsTheyLie = kPacked && (kAxes == 2 || kAxes == 4) && HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR &&
                            kAxes * sizeof(T) <= HWY_MAX_BYTES;

// A value per axis, repeated for the lanes of packed rows.
template <class T, int kAxes>
class AxisLanes {
 public:
  template <class Value>
  explicit AxisLanes(const Value& value) {
    for (int i = 0; i < kLanes; ++i) lanes_[i] = value(i % kAxes);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> vector(D d) const {
    return hn::Load(d, lanes_);
  }
  HWY_INLINE T of_axis(int axis) const { return lanes_[axis]; }

 private:
  static constexpr int kLanes = kLine / sizeof(T);
  alignas(kLine) T lanes_[kLanes];
};

// A vector has at most 16 lanes: kLine bytes of 4. Highway may write eight bytes; only the bytes that it certainly
// writes are read, since reading others would stall.
template <class D>
HWY_INLINE std::uint64_t bits_of(D d, hn::Mask<D> mask) {
  alignas(8) std::uint8_t bytes[8];
  hn::StoreMaskBits(d, mask, bytes);
  if (hn::Lanes(d) <= 8) return bytes[0];
  std::uint16_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
}

// Collects the first of each kStep bits.
template <int kStep>
HWY_INLINE std::uint64_t first_of_each(std::uint64_t bits) {
  if constexpr (kStep == 2) {
    bits &= 0x5555555555555555u;
    bits = (bits | bits >> 1) & 0x3333333333333333u;
    bits = (bits | bits >> 2) & 0x0f0f0f0f0f0f0f0fu;
    bits = (bits | bits >> 4) & 0x00ff00ff00ff00ffu;
    bits = (bits | bits >> 8) & 0x0000ffff0000ffffu;
    return (bits | bits >> 16) & 0xffffffffu;
  } else {
    static_assert(kStep == 4);
    bits &= 0x1111111111111111u;
    bits = (bits | bits >> 3) & 0x0303030303030303u;
    bits = (bits | bits >> 6) & 0x000f000f000f000fu;
    bits = (bits | bits >> 12) & 0x000000ff000000ffu;
    return (bits | bits >> 24) & 0xffffu;
  }
}

// -- Boxes

// Finds the rows in a box. An index minus the lowest one, as an unsigned number, is below the extent of the axis if it
// is in the box. With the sign bit flipped, signed instructions compare unsigned numbers.
template <class T, int kAxes, bool kPacked>
class Box {
 public:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  using RowsOfList = Rows<T, kAxes, kPacked>;

  explicit Box(const IndexBox& box)
      : box_(box),
        low_([&](int axis) HWY_ATTR { return turned(static_cast<Bits>(box.low[axis])); }),
        reach_([&](int axis) HWY_ATTR {
          return turned(static_cast<Bits>(static_cast<Bits>(box.high[axis]) - static_cast<Bits>(box.low[axis])));
        }) {}

  // Writes the words of these rows.
  HWY_INLINE void words(const RowsOfList& rows, std::int64_t row, std::int64_t end, std::uint64_t* words) const {
    for (; row + kWordRows <= end; row += kWordRows) *words++ = word(rows, row);
    if (row < end) *words = word(rows, row, end - row);
  }

 private:
  HWY_INLINE std::uint64_t word(const RowsOfList& rows, std::int64_t row) const {
    if constexpr (kAsTheyLie<T, kAxes, kPacked>) {
      return word_as_they_lie(rows.template at<0>(row));
    } else {
      return word_by_axis(rows, row);
    }
  }

  HWY_INLINE std::uint64_t word(const RowsOfList& rows, std::int64_t row, std::int64_t count) const {
    std::uint64_t bits = 0;
    for (std::int64_t i = 0; i < count; ++i) bits |= std::uint64_t{rows.lies_in(box_, row + i)} << i;
    return bits;
  }

  using Bits = std::make_unsigned_t<T>;
  static T turned(Bits bits) { return static_cast<T>(bits ^ Bits{1} << (8 * sizeof(T) - 1)); }

  HWY_INLINE std::uint64_t word_as_they_lie(const T* from) const {
    const D d;
    constexpr int kLaneBits = 64, kStep = kAxes == 4 ? 4 : 2;
    const int lanes = static_cast<int>(hn::Lanes(d));
    const V low = low_.vector(d), reach = reach_.vector(d);
    std::uint64_t word = 0;
    for (int part = 0; part < kAxes; ++part, from += kLaneBits) {
      std::uint64_t outside = 0;
      for (int lane = 0; lane < kLaneBits; lane += lanes) {
        outside |= bits_of(d, hn::Gt(hn::Sub(hn::LoadU(d, from + lane), low), reach)) << lane;
      }
      outside |= outside >> 1;
      if constexpr (kAxes == 4) outside |= outside >> 2;
      word |= first_of_each<kStep>(~outside) << (part * kLaneBits / kAxes);
    }
    return word;
  }

  HWY_INLINE std::uint64_t word_by_axis(const RowsOfList& rows, std::int64_t row) const {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::uint64_t word = 0;
    for (std::int64_t i = 0; i < kWordRows; i += lanes) {
      V a, b, c, e;
      rows.load(row + i, a, b, c, e);
      auto outside = misses<0>(a);
      if constexpr (kAxes > 1) outside = hn::Or(outside, misses<1>(b));
      if constexpr (kAxes > 2) outside = hn::Or(outside, misses<2>(c));
      if constexpr (kAxes > 3) outside = hn::Or(outside, misses<3>(e));
      word |= bits_of(d, hn::Not(outside)) << i;
    }
    return word;
  }

  template <int kAxis>
  HWY_INLINE hn::Mask<D> misses(V index) const {
    return hn::Or(hn::Lt(index, hn::Set(D(), static_cast<T>(box_.low[kAxis]))),
                  hn::Gt(index, hn::Set(D(), static_cast<T>(box_.high[kAxis]))));
  }

  IndexBox box_;
  AxisLanes<T, kAxes> low_, reach_;
};

template <class T, int kAxes, bool kPacked>
SetBits inside(IndexPointers pointers, std::int64_t count, const IndexBox& in, std::uint64_t* words) {
  Box<T, kAxes, kPacked>(in).words(Rows<T, kAxes, kPacked>(pointers), 0, count, words);
  SetBits found;
  for (std::int64_t row = 0; row < count; row += kWordRows) found.add(words[row / kWordRows]);
  return found;
}

// Compares rows with rows of another list, to which start is added.
template <class T, int kAxes, bool kPacked>
class Comparison {
 public:
  using RowsOfList = Rows<T, kAxes, kPacked>;

  Comparison(const RowsOfList& rows, const RowsOfList& others, const std::int64_t* start)
      : rows_(rows), others_(others), start_([&](int axis) { return static_cast<T>(start[axis]); }) {}

  // Returns whether the rows of a word, counted from `row`, equal the others from `other` on.
  HWY_INLINE bool are_equal(std::uint64_t word, std::int64_t row, std::int64_t other) const {
    if constexpr (kAsTheyLie<T, kAxes, kPacked>) {
      if (word == ~std::uint64_t{0}) return all_equal(rows_.template at<0>(row), others_.template at<0>(other));
      return vectors_equal(word, row, other);
    } else {
      return items_equal(word, row, other);
    }
  }

 private:
  using Bits = std::make_unsigned_t<T>;

  HWY_INLINE bool all_equal(const T* from, const T* to) const {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto start = start_.vector(d);
    auto difference = hn::Zero(d);
    for (std::int64_t i = 0; i < kWordRows * kAxes; i += lanes) {
      difference = hn::Or(difference, hn::Xor(hn::Sub(hn::LoadU(d, from + i), start), hn::LoadU(d, to + i)));
    }
    return hn::AllTrue(d, hn::Eq(difference, hn::Zero(d)));
  }

  // A row is a vector. Only the last branch depends on which rows there are.
  HWY_INLINE bool vectors_equal(std::uint64_t word, std::int64_t row, std::int64_t other) const {
    const hn::CappedTag<T, kAxes> d;
    const auto start = start_.vector(d);
    auto difference = hn::Zero(d);
    const T* const from = rows_.template at<0>(row);
    const T* to = others_.template at<0>(other);
    for (; word != 0; word &= word - 1, to += kAxes) {
      const auto in_slice = hn::Sub(hn::LoadU(d, from + std::countr_zero(word) * kAxes), start);
      difference = hn::Or(difference, hn::Xor(in_slice, hn::LoadU(d, to)));
    }
    return hn::AllTrue(d, hn::Eq(difference, hn::Zero(d)));
  }

  HWY_INLINE bool items_equal(std::uint64_t word, std::int64_t row, std::int64_t other) const {
    Bits difference = 0;
    for (; word != 0; word &= word - 1, ++other) {
      const std::int64_t at = row + std::countr_zero(word);
      for (int axis = 0; axis < kAxes; ++axis) {
        const auto in_slice =
            static_cast<Bits>(static_cast<Bits>(rows_.index(at, axis)) - static_cast<Bits>(start_.of_axis(axis)));
        difference |= in_slice ^ static_cast<Bits>(others_.index(other, axis));
      }
    }
    return difference == 0;
  }

  const RowsOfList &rows_, &others_;
  AxisLanes<T, kAxes> start_;
};

// The box in the coordinates of the other list.
inline IndexBox less_start(IndexBox box, const std::int64_t* start, int axes) {
  for (int axis = 0; axis < axes; ++axis) {
    box.low[axis] -= start[axis];
    box.high[axis] -= start[axis];
  }
  return box;
}

// Each piece is first tested for the box and then compared. Reading its rows then depends on no branch, so memory is
// read ahead; the rows are still in the cache for the comparison.
template <class T, int kAxes, bool kPacked>
Followed follow(IndexPointers pointers, std::int64_t count, IndexPointers other_pointers, std::int64_t others_count,
                const IndexBox& in, const std::int64_t* start, std::uint64_t* words) {
  constexpr std::int64_t kPiece = 8 * kWordRows;
  const Rows<T, kAxes, kPacked> rows(pointers), others(other_pointers);
  const Box<T, kAxes, kPacked> box(in);
  const IndexBox in_others = less_start(in, start, kAxes);
  const Comparison<T, kAxes, kPacked> comparison(rows, others, start);
  Followed done;
  for (std::int64_t piece = 0; piece < count; piece += kPiece) {
    const std::int64_t end = std::min(piece + kPiece, count);
    box.words(rows, piece, end, words + piece / kWordRows);
    for (; done.rows < end; done.rows = std::min(done.rows + kWordRows, end)) {
      const std::uint64_t word = words[done.rows / kWordRows];
      const std::int64_t next = done.found.count + std::popcount(word);
      done.parted = next >= others_count                                       ? Parted::Ended
                    : !comparison.are_equal(word, done.rows, done.found.count) ? Parted::Differ
                    : !others.lies_in(in_others, next)                         ? Parted::OutsideBox
                                                                               : Parted::NotYet;
      if (done.parted != Parted::NotYet) {
        std::fill(words + done.rows / kWordRows, words + (end + kWordRows - 1) / kWordRows, 0);
        return done;
      }
      done.found.add(word);
    }
  }
  return done;
}

// kAxes vectors at a time, so that a lane of a vector always holds an index of the same axis, wherever its row begins.
template <class T, int kAxes, bool kPacked>
IndexBox bounds(IndexPointers pointers, std::int64_t count) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const Rows<T, kAxes, kPacked> rows(pointers);
  IndexBox box;
  for (int axis = 0; axis < kAxes; ++axis) box.low[axis] = box.high[axis] = rows.index(0, axis);
  const auto add = [&](T index, int axis) {
    box.low[axis] = std::min<std::int64_t>(box.low[axis], index);
    box.high[axis] = std::max<std::int64_t>(box.high[axis], index);
  };
  std::int64_t row = 0;
  if (count >= lanes) {
    V low_a, low_b, low_c, low_e;
    rows.load_as_they_lie(0, low_a, low_b, low_c, low_e);
    V high_a = low_a, high_b = low_b, high_c = low_c, high_e = low_e;
    for (row = lanes; row + lanes <= count; row += lanes) {
      V a, b, c, e;
      rows.load_as_they_lie(row, a, b, c, e);
      low_a = hn::Min(low_a, a), high_a = hn::Max(high_a, a);
      low_b = hn::Min(low_b, b), high_b = hn::Max(high_b, b);
      low_c = hn::Min(low_c, c), high_c = hn::Max(high_c, c);
      low_e = hn::Min(low_e, e), high_e = hn::Max(high_e, e);
    }
    const auto add_lanes = [&](V indices, int vector) HWY_ATTR {
      alignas(kLine) T of_lane[kLine / sizeof(T)];
      hn::Store(indices, d, of_lane);
      for (std::int64_t lane = 0; vector < kAxes && lane < lanes; ++lane) {
        add(of_lane[lane], kPacked ? static_cast<int>((vector * lanes + lane) % kAxes) : vector);
      }
    };
    add_lanes(low_a, 0), add_lanes(low_b, 1), add_lanes(low_c, 2), add_lanes(low_e, 3);
    add_lanes(high_a, 0), add_lanes(high_b, 1), add_lanes(high_c, 2), add_lanes(high_e, 3);
  }
  for (; row < count; ++row) {
    for (int axis = 0; axis < kAxes; ++axis) add(rows.index(row, axis), axis);
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
  static constexpr PerTarget kSetters[] = BACKSLICE_PER_TARGET(set_indices);
  set_for(target, kSetters, rows);
}

}  // namespace backslice
#endif
