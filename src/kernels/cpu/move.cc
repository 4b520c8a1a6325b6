// Planes of items moved from strided to strided memory. Included once for each target by foreach_target.h; the part
// under HWY_ONCE is compiled once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/move.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/cpu/items-inl.h"
#include "kernels/cpu/targets.h"

HWY_BEFORE_NAMESPACE();
namespace backslice::HWY_NAMESPACE {
namespace {

template <class Row>
HWY_INLINE void for_each_row(std::byte* dst, const std::byte* src, const Plane& plane, const Row& row) {
  for (std::int64_t i = 0; i < plane.rows; ++i) row(dst + i * plane.row_dst, src + i * plane.row_src);
}

// -- Any strides

template <class T>
void move_items(std::byte* dst, const std::byte* src, const Plane& plane, std::int64_t) {
  const std::int64_t to_step = plane.dst_stride, from_step = plane.src_stride;
  for_each_row(dst, src, plane, [&](std::byte* to, const std::byte* from) {
    std::int64_t i = 0;
    for (; i + 4 <= plane.count; i += 4, to += 4 * to_step, from += 4 * from_step) {
      T a, b, c, e;
      std::memcpy(&a, from, sizeof(T));
      std::memcpy(&b, from + from_step, sizeof(T));
      std::memcpy(&c, from + 2 * from_step, sizeof(T));
      std::memcpy(&e, from + 3 * from_step, sizeof(T));
      std::memcpy(to, &a, sizeof(T));
      std::memcpy(to + to_step, &b, sizeof(T));
      std::memcpy(to + 2 * to_step, &c, sizeof(T));
      std::memcpy(to + 3 * to_step, &e, sizeof(T));
    }
    for (; i < plane.count; ++i, to += to_step, from += from_step) copy_item<T>(to, from);
  });
}

bool any_plane(const Plane&, std::int64_t) { return true; }

// -- A dense destination, from a source whose items lie 2, 3 or 4 items apart

template <int kStride>
bool has_source_stride(const Plane& plane, std::int64_t width) {
  return plane.dst_stride == width && plane.src_stride == kStride * width;
}

template <class T, int kStride>
void gather_items(std::byte* dst, const std::byte* src, const Plane& plane, std::int64_t) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  for_each_row(dst, src, plane, [&](std::byte* to, const std::byte* from) {
    std::int64_t i = 0;
    // The items after the last one may not be there to read.
    for (; i + lanes < plane.count; i += lanes) {
      const auto* items = reinterpret_cast<const T*>(from + i * kStride * kSize);
      hn::Vec<decltype(d)> a, b, c, e;
      if constexpr (kStride == 2) hn::LoadInterleaved2(d, items, a, b);
      if constexpr (kStride == 3) hn::LoadInterleaved3(d, items, a, b, c);
      if constexpr (kStride == 4) hn::LoadInterleaved4(d, items, a, b, c, e);
      hn::StoreU(a, d, reinterpret_cast<T*>(to + i * kSize));
    }
    for (; i < plane.count; ++i) copy_item<T>(to + i * kSize, from + i * kStride * kSize);
  });
}

// -- A dense destination, from a dense source in the opposite order

bool is_reversed(const Plane& plane, std::int64_t width) {
  return plane.dst_stride == width && plane.src_stride == -width;
}

// Memory is read faster upwards, so the source is walked from its far end. The vector that ends with the last items
// overlaps the one before.
template <class T>
void reverse_items(std::byte* dst, const std::byte* src, const Plane& plane, std::int64_t) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  for_each_row(dst, src, plane, [&](std::byte* to, const std::byte* from) {
    const auto write = [&](std::int64_t i) {
      const auto* lowest = reinterpret_cast<const T*>(from - (i + lanes - 1) * kSize);
      hn::StoreU(reverse(d, hn::LoadU(d, lowest)), d, reinterpret_cast<T*>(to + i * kSize));
    };
    if (plane.count < lanes) {
      for (std::int64_t i = 0; i < plane.count; ++i) copy_item<T>(to + i * kSize, from - i * kSize);
      return;
    }
    write(plane.count - lanes);
    for (std::int64_t i = plane.count / lanes * lanes - lanes; i >= 0; i -= lanes) write(i);
  });
}

// -- A source that is dense along the rows, to a destination that is dense across them

bool is_transposed(const Plane& plane, std::int64_t width) {
  return plane.dst_stride == width && (plane.row_src == width || plane.row_src == -width);
}

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
// A square of as many items as 16 bytes hold. Interleaving the first half of the vectors with the second exchanges one
// bit of the row number with one of the column number.
template <class T>
HWY_INLINE void transpose_square(std::byte* dst, const std::byte* src, const Plane& plane) {
  constexpr int kItems = 16 / sizeof(T);
  const hn::FixedTag<T, kItems> d;
  hn::Vec<decltype(d)> in[kItems], out[kItems];
  for (int i = 0; i < kItems; ++i) in[i] = hn::LoadU(d, reinterpret_cast<const T*>(src + i * plane.src_stride));
  for (int round = 1; round < kItems; round *= 2) {
    for (int i = 0; i < kItems / 2; ++i) {
      out[2 * i] = hn::InterleaveLower(d, in[i], in[i + kItems / 2]);
      out[2 * i + 1] = hn::InterleaveUpper(d, in[i], in[i + kItems / 2]);
    }
    for (int i = 0; i < kItems; ++i) in[i] = out[i];
  }
  for (int i = 0; i < kItems; ++i) hn::StoreU(in[i], d, reinterpret_cast<T*>(dst + i * plane.row_dst));
}

template <class T>
void transpose_items(std::byte* dst, const std::byte* src, const Plane& plane, std::int64_t width) {
  constexpr std::int64_t kItems = 16 / sizeof(T);
  Plane up = plane;  // with a source that is walked upwards
  if (plane.row_src < 0) {
    src += (plane.rows - 1) * plane.row_src, dst += (plane.rows - 1) * plane.row_dst;
    up.row_src = -plane.row_src, up.row_dst = -plane.row_dst;
  }
  const std::int64_t rows = plane.rows / kItems * kItems, count = plane.count / kItems * kItems;
  for (std::int64_t row = 0; row < rows; row += kItems) {
    for (std::int64_t i = 0; i < count; i += kItems) {
      transpose_square<T>(dst + row * up.row_dst + i * up.dst_stride, src + row * up.row_src + i * up.src_stride, up);
    }
  }
  Plane rest = up;
  if (count < plane.count) {
    rest.rows = rows, rest.count = plane.count - count;
    move_items<T>(dst + count * up.dst_stride, src + count * up.src_stride, rest, width);
  }
  if (rows < plane.rows) {
    rest.rows = plane.rows - rows, rest.count = plane.count;
    move_items<T>(dst + rows * up.row_dst, src + rows * up.row_src, rest, width);
  }
}
#else
template <class T>
void transpose_items(std::byte* dst, const std::byte* src, const Plane& plane, std::int64_t width) {
  move_items<T>(dst, src, plane, width);
}
#endif

// -- Runs of bytes

// Two pieces that overlap where the run is shorter than both. Precondition: kPiece <= bytes <= 2 * kPiece.
template <std::size_t kPiece>
HWY_INLINE void copy_two(std::byte* dst, const std::byte* src, std::int64_t bytes) {
  struct Piece {
    std::byte bytes[kPiece];
  } first, last;
  constexpr auto kBytes = static_cast<std::int64_t>(kPiece);
  std::memcpy(&first, src, kPiece);
  std::memcpy(&last, src + bytes - kBytes, kPiece);
  std::memcpy(dst, &first, kPiece);
  std::memcpy(dst + bytes - kBytes, &last, kPiece);
}

// Precondition: at least one vector.
template <class D>
HWY_INLINE void copy_vectors(D d, std::byte* dst, const std::byte* src, std::int64_t bytes) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto* to = reinterpret_cast<std::uint8_t*>(dst);
  const auto* from = reinterpret_cast<const std::uint8_t*>(src);
  for (std::int64_t i = 0; i + lanes < bytes; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  hn::StoreU(hn::LoadU(d, from + bytes - lanes), d, to + bytes - lanes);
}

template <class Copy>
HWY_INLINE void for_each_run(std::byte* dst, const std::byte* src, const Plane& plane, const Copy& copy) {
  for_each_row(dst, src, plane, [&](std::byte* to, const std::byte* from) {
    for (std::int64_t i = 0; i < plane.count; ++i, to += plane.dst_stride, from += plane.src_stride) copy(to, from);
  });
}

void move_runs(std::byte* dst, const std::byte* src, const Plane& plane, std::int64_t bytes) {
  constexpr std::int64_t kByMemcpy = 1024;  // which knows best how to copy more
  const hn::ScalableTag<std::uint8_t> d;
  const hn::CappedTag<std::uint8_t, 16> d16;
  const auto each = [&](const auto& copy) { for_each_run(dst, src, plane, copy); };
  if (bytes <= 2) return each([&](auto* to, auto* from) { copy_two<1>(to, from, bytes); });
  if (bytes <= 4) return each([&](auto* to, auto* from) { copy_two<2>(to, from, bytes); });
  if (bytes <= 8) return each([&](auto* to, auto* from) { copy_two<4>(to, from, bytes); });
  if (bytes <= 16) return each([&](auto* to, auto* from) { copy_two<8>(to, from, bytes); });
  if (bytes > kByMemcpy) {
    return each([&](auto* to, auto* from) { std::memcpy(to, from, static_cast<std::size_t>(bytes)); });
  }
  if (bytes < static_cast<std::int64_t>(hn::Lanes(d))) {
    return each([&](auto* to, auto* from) { copy_vectors(d16, to, from, bytes); });
  }
  each([&](auto* to, auto* from) { copy_vectors(d, to, from, bytes); });
}

// -- The table, best first

template <class T>
constexpr MoveVariant kMoves[] = {
    {"reversed", is_reversed, reverse_items<T>},
    {"every_2nd", has_source_stride<2>, gather_items<T, 2>},
    {"every_3rd", has_source_stride<3>, gather_items<T, 3>},
    {"every_4th", has_source_stride<4>, gather_items<T, 4>},
    {"transposed", is_transposed, transpose_items<T>},
    {"items", any_plane, move_items<T>, true},
};
constexpr MoveVariant kMoves16[] = {{"items", any_plane, move_items<Item16>, true}};
constexpr MoveVariant kMoveRuns[] = {{"runs", any_plane, move_runs, true}};

}  // namespace

void set_move(RowKernels& rows) {
  rows.moves[0] = kMoves<std::uint8_t>;
  rows.moves[1] = kMoves<std::uint16_t>;
  rows.moves[2] = kMoves<std::uint32_t>;
  rows.moves[3] = kMoves<std::uint64_t>;
  rows.moves[4] = kMoves16;
  rows.moves[5] = kMoveRuns;
}

}  // namespace backslice::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backslice {

void set_move_rows(std::int64_t target, RowKernels& rows) {
  static constexpr PerTarget<void(RowKernels&)> kSetters[] = BACKSLICE_PER_TARGET(set_move);
  call_for(target, kSetters, rows);
}

const MoveVariant& move_variant(const RowKernels& rows, const Plane& plane, std::int64_t run) {
  const int width = width_index(run);
  const auto all = rows.moves[width < 0 ? 5 : width];
  return *std::find_if(all.begin(), all.end(), [&](const MoveVariant& variant) { return variant.can_run(plane, run); });
}

}  // namespace backslice
#endif
