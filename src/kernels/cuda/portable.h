// Code that runs on CUDA devices and on the CPU, where the tests run it.
//
// A header that includes this is compiled by nvcc for the kernels and by every other compiler for the tests. Items are
// moved as unsigned integers by their width; sixteen bytes are a Vector.
#pragma once

#ifdef __CUDACC__
#define BACKSLICE_HD __host__ __device__ __forceinline__
#define BACKSLICE_UNROLL _Pragma("unroll")
#define BACKSLICE_NO_UNROLL _Pragma("unroll 1")
#else
#define BACKSLICE_HD inline
#define BACKSLICE_UNROLL
#define BACKSLICE_NO_UNROLL
#endif

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

namespace backslice::cuda {

struct alignas(16) Vector {
  std::uint64_t low = 0, high = 0;
};

template <int kBytes>
struct ItemOf;
template <>
struct ItemOf<1> {
  using type = std::uint8_t;
};
template <>
struct ItemOf<2> {
  using type = std::uint16_t;
};
template <>
struct ItemOf<4> {
  using type = std::uint32_t;
};
template <>
struct ItemOf<8> {
  using type = std::uint64_t;
};
template <>
struct ItemOf<16> {
  using type = Vector;
};

// An item of that many bytes, or the bytes that a thread moves at once.
template <int kBytes>
using Item = typename ItemOf<kBytes>::type;

BACKSLICE_HD std::uint64_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

// Loads or stores memory that is accessed once: it need not stay in the caches. Precondition: it is aligned to its
// width.
template <int kBytes>
BACKSLICE_HD Item<kBytes> load(const std::byte* from) {
#ifdef __CUDA_ARCH__
  if constexpr (kBytes == 16) {
    const ulonglong2 both = __ldcs(reinterpret_cast<const ulonglong2*>(from));
    return {both.x, both.y};
  } else if constexpr (kBytes == 8) {
    return __ldcs(reinterpret_cast<const unsigned long long*>(from));
  } else {
    return __ldcs(reinterpret_cast<const Item<kBytes>*>(from));
  }
#else
  assert(address(from) % kBytes == 0);
  Item<kBytes> item;
  std::memcpy(&item, from, kBytes);
  return item;
#endif
}

template <int kBytes>
BACKSLICE_HD void store(std::byte* to, Item<kBytes> item) {
#ifdef __CUDA_ARCH__
  if constexpr (kBytes == 16) {
    __stcs(reinterpret_cast<ulonglong2*>(to), make_ulonglong2(item.low, item.high));
  } else if constexpr (kBytes == 8) {
    __stcs(reinterpret_cast<unsigned long long*>(to), item);
  } else {
    __stcs(reinterpret_cast<Item<kBytes>*>(to), item);
  }
#else
  assert(address(to) % kBytes == 0);
  std::memcpy(to, &item, kBytes);
#endif
}

// Sets item `at` of a vector, which is zero there.
template <int kBytes>
BACKSLICE_HD void put(Vector& vector, unsigned at, Item<kBytes> item) {
  if constexpr (kBytes == 16) {
    vector = item;
  } else {
    const unsigned bits = at * kBytes * 8;
    if (bits < 64) {
      vector.low |= static_cast<std::uint64_t>(item) << bits;
    } else {
      vector.high |= static_cast<std::uint64_t>(item) << (bits - 64);
    }
  }
}

// Returns item `at` of a vector.
template <int kBytes>
BACKSLICE_HD Item<kBytes> item_of(const Vector& vector, unsigned at) {
  Item<kBytes> item;
  std::memcpy(&item, reinterpret_cast<const std::byte*>(&vector) + at * kBytes, kBytes);
  return item;
}

// The bytes [first, last) of memory, which loads wider than an item must not exceed.
struct Bounds {
  const std::byte *first = nullptr, *last = nullptr;

  BACKSLICE_HD bool hold(const std::byte* from, unsigned bytes) const {
    return address(from) >= address(first) && address(from) + bytes <= address(last);
  }
};

// Returns the low half of (high:low) >> bits. Precondition: bits < 32.
BACKSLICE_HD std::uint32_t funnel(std::uint32_t low, std::uint32_t high, unsigned bits) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(low, high, bits);
#else
  return static_cast<std::uint32_t>((low | static_cast<std::uint64_t>(high) << 32) >> bits);
#endif
}

// Returns four of the bytes of (high:low), each chosen by four bits of the selector, which count from the lowest byte.
BACKSLICE_HD std::uint32_t permute(std::uint32_t low, std::uint32_t high, std::uint32_t selector) {
#ifdef __CUDA_ARCH__
  return __byte_perm(low, high, selector);
#else
  const std::uint64_t bytes = low | static_cast<std::uint64_t>(high) << 32;
  std::uint32_t permuted = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned from = (selector >> (4 * i)) & 7;
    permuted |= (static_cast<std::uint32_t>(bytes >> (8 * from)) & 0xffu) << (8 * i);
  }
  return permuted;
#endif
}

BACKSLICE_HD Vector vector_of(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return {a | static_cast<std::uint64_t>(b) << 32, c | static_cast<std::uint64_t>(d) << 32};
}

// Loads sixteen bytes from any address: whole, in parts, or from the aligned words around them.
BACKSLICE_HD Vector load_anywhere(const std::byte* from, const Bounds& bounds) {
  const auto low = static_cast<unsigned>(address(from) & 15);
  if (low == 0) return load<16>(from);
  if (low == 8) return {load<8>(from), load<8>(from + 8)};
  if ((low & 3) == 0) return vector_of(load<4>(from), load<4>(from + 4), load<4>(from + 8), load<4>(from + 12));
  const std::byte* words = from - (low & 3);
  if (bounds.hold(words, 20)) {
    const unsigned bits = 8 * (low & 3);
    const std::uint32_t w[] = {load<4>(words), load<4>(words + 4), load<4>(words + 8), load<4>(words + 12),
                               load<4>(words + 16)};
    return vector_of(funnel(w[0], w[1], bits), funnel(w[1], w[2], bits), funnel(w[2], w[3], bits),
                     funnel(w[3], w[4], bits));
  }
  Vector vector;
  for (unsigned i = 0; i < 16; ++i) put<1>(vector, i, load<1>(from + i));
  return vector;
}

// Loads eight bytes from any address, from the three aligned words around them, which must all be readable.
BACKSLICE_HD std::uint64_t load_word_around(const std::byte* from) {
  const auto low = static_cast<unsigned>(address(from) & 3);
  const std::byte* words = from - low;
  const std::uint32_t w[] = {load<4>(words), load<4>(words + 4), load<4>(words + 8)};
  return funnel(w[0], w[1], 8 * low) | static_cast<std::uint64_t>(funnel(w[1], w[2], 8 * low)) << 32;
}

// Loads the first `bytes` (at most 8) from any address into the low bytes of a word; the other bytes are unspecified.
BACKSLICE_HD std::uint64_t load_word_anywhere(const std::byte* from, unsigned bytes, const Bounds& bounds) {
  if (bounds.hold(from - (address(from) & 3), 12)) return load_word_around(from);
  std::uint64_t word = 0;
  for (unsigned i = 0; i < bytes; ++i) word |= static_cast<std::uint64_t>(load<1>(from + i)) << (8 * i);
  return word;
}

// -- Items that need not be aligned

template <int kBytes>
BACKSLICE_HD bool is_aligned(const std::byte* p) {
  return (address(p) & (kBytes - 1)) == 0;
}

template <int kBytes>
BACKSLICE_HD Item<kBytes> load_item(const std::byte* from) {
  if constexpr (kBytes == 1) {
    return load<1>(from);
  } else {
    if (is_aligned<kBytes>(from)) return load<kBytes>(from);
    std::byte bytes[kBytes];
    for (unsigned i = 0; i < kBytes; ++i) bytes[i] = from[i];
    Item<kBytes> item;
    std::memcpy(&item, bytes, kBytes);
    return item;
  }
}

template <int kBytes>
BACKSLICE_HD void store_item(std::byte* to, Item<kBytes> item) {
  if constexpr (kBytes == 1) {
    store<1>(to, item);
  } else if (is_aligned<kBytes>(to)) {
    store<kBytes>(to, item);
  } else {
    std::byte bytes[kBytes];
    std::memcpy(bytes, &item, kBytes);
    for (unsigned i = 0; i < kBytes; ++i) to[i] = bytes[i];
  }
}

BACKSLICE_HD std::uint32_t reversed_bytes(std::uint32_t word) {
#ifdef __CUDA_ARCH__
  return __byte_perm(word, 0, 0x0123);
#else
  return __builtin_bswap32(word);
#endif
}

// Returns the items of a vector in reverse order.
template <int kBytes>
BACKSLICE_HD Vector reversed(const Vector& v) {
  if constexpr (kBytes == 16) return v;
  if constexpr (kBytes == 8) return {v.high, v.low};
  std::uint32_t w[] = {static_cast<std::uint32_t>(v.low), static_cast<std::uint32_t>(v.low >> 32),
                       static_cast<std::uint32_t>(v.high), static_cast<std::uint32_t>(v.high >> 32)};
  for (std::uint32_t& word : w) {
    if constexpr (kBytes == 2) word = (word << 16) | (word >> 16);
    if constexpr (kBytes == 1) word = reversed_bytes(word);
  }
  return vector_of(w[3], w[2], w[1], w[0]);
}

// Calls body with a width as a constant. Precondition: an Item has that width.
template <class Body>
auto visit_width(int width, const Body& body) {
  switch (width) {
    case 16: return body.template operator()<16>();
    case 8: return body.template operator()<8>();
    case 4: return body.template operator()<4>();
    case 2: return body.template operator()<2>();
    default: return body.template operator()<1>();
  }
}

// Calls body with a width and a number of loops as constants: those that kernels are compiled for, or 0 for any number.
template <class Body>
auto with_width_and_count(int width, int count, const Body& body) {
  return visit_width(width, [&]<int kWidth>() {
    switch (count) {
      case 1: return body.template operator()<kWidth, 1>();
      case 2: return body.template operator()<kWidth, 2>();
      case 3: return body.template operator()<kWidth, 3>();
      default: return body.template operator()<kWidth, 0>();
    }
  });
}

// -- Kernels have variants, listed best first: dispatch takes the first that can run, tests and benchmarks walk them
// all.

// The numbers of loops for which with_width_and_count compiles kernels, best first: known ones, then 0 for any number.
inline constexpr int kWidths[] = {16, 8, 4, 2, 1};
inline constexpr int kCounts[] = {1, 2, 3, 0};

// Returns the first suitable one of a list; there is always one.
template <class Variants, class Predicate>
const auto& first_of(const Variants& variants, const Predicate& will_do) {
  return *std::find_if(std::begin(variants), std::end(variants), will_do);
}

}  // namespace backslice::cuda
