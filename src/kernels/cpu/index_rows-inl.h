// Rows of sparse indices in vectors, and what comparing them needs. Included once for each target.
#if defined(BACKSLICE_KERNELS_CPU_INDEX_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKSLICE_KERNELS_CPU_INDEX_ROWS_INL_H_
#undef BACKSLICE_KERNELS_CPU_INDEX_ROWS_INL_H_
#else
#define BACKSLICE_KERNELS_CPU_INDEX_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

#include "kernels/cpu/indices.h"
#include "kernels/cpu/items-inl.h"
#include "kernels/cpu/rows.h"

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

  // One vector per axis as well, but of packed rows the indices of all axes as they follow each other.
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

// Packed rows that fill vectors can be compared as they lie, an index per lane, without a vector per axis. ARM takes
// axes apart while loading, and has no instruction that turns a mask into bits.
template <class T, int kAxes, bool kPacked>
constexpr bool kAsTheyLie = kPacked && (kAxes == 2 || kAxes == 4) && HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR &&
                            kAxes * sizeof(T) <= HWY_MAX_BYTES;

// A value per axis, once for each lane of rows as they lie.
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

// A vector has at most 16 lanes: kLine bytes of 4. Highway may write eight bytes; what is read are those that it must
// have written, as others would have to wait.
template <class D>
HWY_INLINE std::uint64_t bits_of(D d, hn::Mask<D> mask) {
  alignas(8) std::uint8_t bytes[8];
  hn::StoreMaskBits(d, mask, bytes);
  if (hn::Lanes(d) <= 8) return bytes[0];
  std::uint16_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
}

// Of each kStep bits the first, one after the other.
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

}  // namespace
}  // namespace backslice::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
