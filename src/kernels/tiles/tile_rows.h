// Rows of a tile: copied, added, or made ready to be added to.
#pragma once

#include <complex>
#include <cstring>
#include <type_traits>
#include <vector>

#include "core/small_float.h"
#include "core/visit_dtype.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/writer.h"

namespace backslice {

// Row operations on a dense tile; steps and strides are in bytes.
struct RowCopy {
  std::int64_t size;
  void operator()(std::byte* dst, const std::byte* src, std::int64_t n, std::int64_t step, std::int64_t stride) const {
    if (step == size && stride == size) return copy_bytes(dst, src, n * size);
    const auto each = [&]<std::int64_t kSize>() {
      for (std::int64_t i = 0; i < n; ++i) std::memcpy(dst + i * step, src + i * stride, kSize);
    };
    switch (size) {
      case 1: return each.template operator()<1>();
      case 2: return each.template operator()<2>();
      case 4: return each.template operator()<4>();
      case 8: return each.template operator()<8>();
      case 16: return each.template operator()<16>();
      default:
        for (std::int64_t i = 0; i < n; ++i) copy_bytes(dst + i * step, src + i * stride, size);
    }
  }
};

template <class T>
struct RowAdd {
  AddRow dense;
  void operator()(std::byte* dst, const std::byte* src, std::int64_t n, std::int64_t step, std::int64_t stride) const {
    if (dense != nullptr && step == sizeof(T) && stride == sizeof(T)) return dense(dst, src, n);
    for (std::int64_t i = 0; i < n; ++i) {
      T sum, term;
      std::memcpy(&sum, dst + i * step, sizeof(T));
      std::memcpy(&term, src + i * stride, sizeof(T));
      sum = sum + term;
      std::memcpy(dst + i * step, &sum, sizeof(T));
    }
  }
};

// The number that changes nothing when something is added to it, minus zero included: minus zero itself, or zero where
// there is none.
template <class T>
T identity() {
  T value{};
  if constexpr (std::is_floating_point_v<T>) {
    value = T{-0.0};
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    value = T(-0.0, -0.0);
  } else if constexpr (requires { T::kNegativeZero; }) {
    value.bits = static_cast<decltype(value.bits)>(T::kNegativeZero);
  }
  return value;
}

template <class T>
struct RowIdentity {
  void operator()(std::byte* dst, const std::byte*, std::int64_t n, std::int64_t step, std::int64_t) const {
    constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
    const T value = identity<T>();
    const auto each = [&](std::int64_t apart) {
      for (std::int64_t i = 0; i < n; ++i) std::memcpy(dst + i * apart, &value, sizeof(T));
    };
    step == kSize ? each(kSize) : each(step);  // the first becomes vector stores
  }
};

// float8_e8m0fnu has no such number: what is covered already is remembered for each element.
struct RowCopyOrAdd {
  std::byte* tile;
  std::vector<char>& covered;
  void operator()(std::byte* dst, const std::byte* src, std::int64_t n, std::int64_t step, std::int64_t stride) const {
    for (std::int64_t i = 0; i < n; ++i) {
      std::byte* to = dst + i * step;
      char& seen = covered[static_cast<std::size_t>(to - tile)];
      Float8E8M0FNU a, b;
      std::memcpy(&a, to, 1);
      std::memcpy(&b, src + i * stride, 1);
      if (seen) b = a + b;
      std::memcpy(to, &b, 1);
      seen = 1;
    }
  }
};

}  // namespace backslice
