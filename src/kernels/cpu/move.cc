// Planes of items moved from strided to strided memory. Included once for each target by foreach_target.h; the part
// under HWY_ONCE is compiled once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/move.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "core/tuning.h"
#include "kernels/cpu/items-inl.h"
#include "kernels/cpu/targets.h"

HWY_BEFORE_NAMESPACE();
namespace backslice::HWY_NAMESPACE {
namespace {

// With a plane of its own: stores through bytes could change one that others see, which would then be read again.
template <class Row>
HWY_INLINE void for_each_row(std::byte* dst, const std::byte* src, const Plane& shared, const Row& row) {
  const Plane plane = shared;
  for (std::int64_t i = 0; i < plane.rows; ++i) row(dst + i * plane.row_dst, src + i * plane.row_src, plane.count);
}

// -- Any strides

// Of long rows, four are read before they are written, unless each lies in a line of its own.
template <class T>
void move_items(std::byte* dst, const std::byte* src, const Plane& plane, std::int64_t) {
  for_each_long_row<sizeof(T)>(
      dst, src, plane,
      [](std::byte* to, const std::byte* from, std::int64_t count, std::int64_t to_step, std::int64_t from_step) {
        constexpr std::int64_t kLong = 32;
        std::int64_t i = 0;
        const std::int64_t several =
            count >= kLong && std::abs(from_step) < kLine && std::abs(to_step) < kLine ? count - 3 : 0;
        for (; i < several; i += 4, to += 4 * to_step, from += 4 * from_step) {
          T items[4];
          for (int k = 0; k < 4; ++k) std::memcpy(&items[k], from + k * from_step, sizeof(T));
          for (int k = 0; k < 4; ++k) std::memcpy(to + k * to_step, &items[k], sizeof(T));
        }
        for (; i + kAtOnce <= count; i += kAtOnce) {
          for (int k = 0; k < kAtOnce; ++k, to += to_step, from += from_step) copy_item<T>(to, from);
        }
        for (; i < count; ++i, to += to_step, from += from_step) copy_item<T>(to, from);
      });
}

bool any_plane(const Plane&, std::int64_t) { return true; }

// -- A dense destination, from a source whose items lie 2, 3 or 4 items apart

template <int kStride>
bool has_source_stride(const Plane& plane, std::int64_t width) {
  return plane.dst_stride == width && plane.src_stride == kStride * width;
}

// Every kStride-th of the items from there on, from the one numbered kFirst.
template <int kStride, int kFirst, class D>
HWY_INLINE hn::Vec<D> load_apart(D d, const std::byte* src) {
  const auto* items = reinterpret_cast<const hn::TFromD<D>*>(src);
  hn::Vec<D> of[4];
  if constexpr (kStride == 2) hn::LoadInterleaved2(d, items, of[0], of[1]);
  if constexpr (kStride == 3) hn::LoadInterleaved3(d, items, of[0], of[1], of[2]);
  if constexpr (kStride == 4) hn::LoadInterleaved4(d, items, of[0], of[1], of[2], of[3]);
  return of[kFirst];
}

// Calls row with vectors of items, as long as there can be, that are shorter than the row; false where it is too short.
template <class T, class Row>
HWY_INLINE bool by_vectors(std::int64_t count, const Row& row) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 16 / sizeof(T)> d16;
  if (count > static_cast<std::int64_t>(hn::Lanes(d))) return row(d), true;
  if (count > static_cast<std::int64_t>(hn::Lanes(d16))) return row(d16), true;
  return false;
}

template <class T, int kStride>
void gather_items(std::byte* dst, const std::byte* src, const Plane& plane, std::int64_t) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  for_each_row(dst, src, plane, [](std::byte* to, const std::byte* from, std::int64_t count) {
    const auto gather = [&](auto d) {
      const auto lanes = static_cast<std::int64_t>(hn::Lanes(d)), last = count - lanes;
      for (std::int64_t i = 0; i < last; i += i == 0 ? items_to_line(to, kSize, lanes) : lanes) {
        hn::StoreU(load_apart<kStride, 0>(d, from + i * kStride * kSize), d, reinterpret_cast<T*>(to + i * kSize));
      }
      // The items after the last one may not be there to read, but those before are.
      const std::byte* const end = from + (last * kStride - (kStride - 1)) * kSize;
      hn::StoreU(load_apart<kStride, kStride - 1>(d, end), d, reinterpret_cast<T*>(to + last * kSize));
    };
    if (by_vectors<T>(count, gather)) return;
    for (std::int64_t i = 0; i < count; ++i) copy_item<T>(to + i * kSize, from + i * kStride * kSize);
  });
}

// The same for items in the opposite order. The source is walked upwards, from its far end.
template <class T, int kStride>
void gather_reversed(std::byte* dst, const std::byte* src, const Plane& plane, std::int64_t) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  for_each_row(dst, src, plane, [](std::byte* to, const std::byte* from, std::int64_t count) {
    const auto gather = [&](auto d) {
      const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
      const auto lowest = [&](std::int64_t i) { return from - (i + lanes - 1) * kStride * kSize; };
      const auto store = [&](std::int64_t i, auto items) {
        hn::StoreU(reverse(d, items), d, reinterpret_cast<T*>(to + i * kSize));
      };
      for (std::int64_t i = count - lanes; i > 0; i -= lanes) store(i, load_apart<kStride, 0>(d, lowest(i)));
      // The items after the first one may not be there to read.
      store(0, load_apart<kStride, kStride - 1>(d, lowest(0) - (kStride - 1) * kSize));
    };
    if (by_vectors<T>(count, gather)) return;
    for (std::int64_t i = 0; i < count; ++i) copy_item<T>(to + i * kSize, from - i * kStride * kSize);
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
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  for_each_row(dst, src, plane, [](std::byte* to, const std::byte* from, std::int64_t count) {
    const auto reverse_all = [&](auto d) {
      const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
      const auto write = [&](std::int64_t i) {
        const auto* lowest = reinterpret_cast<const T*>(from - (i + lanes - 1) * kSize);
        hn::StoreU(reverse(d, hn::LoadU(d, lowest)), d, reinterpret_cast<T*>(to + i * kSize));
      };
      write(count - lanes);
      for (std::int64_t i = count - items_before_line(to + count * kSize, kSize, lanes) - lanes; i > 0; i -= lanes)
        write(i);
      write(0);
    };
    if (by_vectors<T>(count, reverse_all)) return;
    for (std::int64_t i = 0; i < count; ++i) copy_item<T>(to + i * kSize, from - i * kSize);
  });
}

// The same for items of 16 bytes.
void reverse_blocks(std::byte* dst, const std::byte* src, const Plane& plane, std::int64_t width) {
#if HWY_TARGET == HWY_SCALAR
  move_items<Item16>(dst, src, plane, width);
#else
  const hn::ScalableTag<std::uint64_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d)), items = lanes / 2;
  if (plane.count < items) return move_items<Item16>(dst, src, plane, width);
  for_each_row(dst, src, plane, [=](std::byte* to, const std::byte* from, std::int64_t count) {
    const auto write = [=](std::int64_t i) {
      const auto* lowest = reinterpret_cast<const std::uint64_t*>(from - (i + items - 1) * 16);
      hn::StoreU(hn::ReverseBlocks(d, hn::LoadU(d, lowest)), d, reinterpret_cast<std::uint64_t*>(to + i * 16));
    };
    write(count - items);
    for (std::int64_t i = count - items_before_line(to + count * 16, 16, items) - items; i > 0; i -= items) write(i);
    write(0);
  });
#endif
}

// -- A source that is dense along the rows, to a destination that is dense across them

bool is_transposed(const Plane& plane, std::int64_t width) {
  return plane.dst_stride == width && (plane.row_src == width || plane.row_src == -width);
}

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
// Interleaving the first half of the vectors with the second exchanges one bit of the row number with one of the column
// number.
template <class T, int kItems>
HWY_INLINE void transpose_square(std::byte* dst, const std::byte* src, std::int64_t dst_stride,
                                 std::int64_t src_stride) {
  const hn::FixedTag<T, kItems> d;
  hn::Vec<decltype(d)> in[kItems], out[kItems];
  for (int i = 0; i < kItems; ++i) in[i] = hn::LoadU(d, reinterpret_cast<const T*>(src + i * src_stride));
  for (int round = 1; round < kItems; round *= 2) {
    for (int i = 0; i < kItems / 2; ++i) {
      out[2 * i] = hn::InterleaveLower(d, in[i], in[i + kItems / 2]);
      out[2 * i + 1] = hn::InterleaveUpper(d, in[i], in[i + kItems / 2]);
    }
    for (int i = 0; i < kItems; ++i) in[i] = out[i];
  }
  for (int i = 0; i < kItems; ++i) hn::StoreU(in[i], d, reinterpret_cast<T*>(dst + i * dst_stride));
}

// Squares of so many items, of which the last ones overlap those before. Precondition: no fewer rows, nor items in one.
template <class T, int kItems>
void transpose_squares(std::byte* dst, const std::byte* src, const Plane& shared) {
  const Plane plane = shared;
  const std::int64_t blocks = (plane.count - 1) / kItems + 1;
  const bool is_up = plane.src_stride > 0;  // else from the end: the source is walked upwards
  for (std::int64_t next = 0; next < plane.rows; next += kItems) {
    const std::int64_t row = std::min(next, plane.rows - kItems);
    std::byte* const to = dst + row * plane.row_dst;
    const std::byte* const from = src + row * plane.row_src;
    for (std::int64_t k = 0; k < blocks; ++k) {
      const std::int64_t i = std::min((is_up ? k : blocks - 1 - k) * kItems, plane.count - kItems);
      transpose_square<T, kItems>(to + i * plane.dst_stride, from + i * plane.src_stride, plane.row_dst,
                                  plane.src_stride);
    }
  }
}

// The largest squares that fit: as many items as 16 bytes hold, or fewer.
template <class T, int kItems = 16 / sizeof(T)>
void transpose_items(std::byte* dst, const std::byte* src, const Plane& plane, std::int64_t width) {
  if (plane.row_src < 0) {  // walked upwards, so that a square's rows are as the source's
    return transpose_items<T, kItems>(
        dst + (plane.rows - 1) * plane.row_dst, src + (plane.rows - 1) * plane.row_src,
        {plane.rows, -plane.row_dst, -plane.row_src, plane.count, plane.dst_stride, plane.src_stride}, width);
  }
  if (std::min(plane.rows, plane.count) >= kItems) return transpose_squares<T, kItems>(dst, src, plane);
  if constexpr (kItems * sizeof(T) > 4 && kItems > 2) {
    transpose_items<T, kItems / 2>(dst, src, plane, width);
  } else {
    move_items<T>(dst, src, plane, width);
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
  for (std::int64_t i = 0; i + lanes < bytes; i += i == 0 ? items_to_line(dst, 1, lanes) : lanes) {
    hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  }
  hn::StoreU(hn::LoadU(d, from + bytes - lanes), d, to + bytes - lanes);
}

template <class Copy>
HWY_INLINE void for_each_run(std::byte* dst, const std::byte* src, const Plane& plane, const Copy& copy) {
  const std::int64_t to_step = plane.dst_stride, from_step = plane.src_stride;
  for_each_row(dst, src, plane, [=](std::byte* to, const std::byte* from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i, to += to_step, from += from_step) copy(to, from);
  });
}

void move_runs(std::byte* dst, const std::byte* src, const Plane& plane, std::int64_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  const hn::CappedTag<std::uint8_t, 16> d16;
  const auto each = [&](const auto& copy) { for_each_run(dst, src, plane, copy); };
  if (bytes <= 2) return each([&](auto* to, auto* from) { copy_two<1>(to, from, bytes); });
  if (bytes <= 4) return each([&](auto* to, auto* from) { copy_two<2>(to, from, bytes); });
  if (bytes <= 8) return each([&](auto* to, auto* from) { copy_two<4>(to, from, bytes); });
  if (bytes <= 16) return each([&](auto* to, auto* from) { copy_two<8>(to, from, bytes); });
  if (bytes > (plane.rows * plane.count * bytes > kTuning.slow_zeros ? kTuning.memory_run : kTuning.memcpy_run)) {
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
    {"every_2nd_reversed", has_source_stride<-2>, gather_reversed<T, 2>},
    {"every_3rd_reversed", has_source_stride<-3>, gather_reversed<T, 3>},
    {"every_4th_reversed", has_source_stride<-4>, gather_reversed<T, 4>},
    {"transposed", is_transposed, transpose_items<T>},
    {"items", any_plane, move_items<T>, true},
};
// Loads of every third and fourth take longer than the items one by one.
constexpr MoveVariant kMoves8[] = {
    {"reversed", is_reversed, reverse_items<std::uint64_t>},
    {"every_2nd", has_source_stride<2>, gather_items<std::uint64_t, 2>},
    {"every_2nd_reversed", has_source_stride<-2>, gather_reversed<std::uint64_t, 2>},
    {"transposed", is_transposed, transpose_items<std::uint64_t>},
    {"items", any_plane, move_items<std::uint64_t>, true},
};
constexpr MoveVariant kMoves16[] = {
    {"reversed", is_reversed, reverse_blocks},
    {"items", any_plane, move_items<Item16>, true},
};
constexpr MoveVariant kMoveRuns[] = {{"runs", any_plane, move_runs, true}};

}  // namespace

void set_move(RowKernels& rows) {
  rows.moves[0] = kMoves<std::uint8_t>;
  rows.moves[1] = kMoves<std::uint16_t>;
  rows.moves[2] = kMoves<std::uint32_t>;
  rows.moves[3] = kMoves8;
  rows.moves[4] = kMoves16;
  rows.moves[5] = kMoveRuns;
}

}  // namespace backslice::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backslice {

void set_move_rows(std::int64_t target, RowKernels& rows) {
  static constexpr PerTarget kSetters[] = BACKSLICE_PER_TARGET(set_move);
  set_for(target, kSetters, rows);
}

const MoveVariant& move_variant(const RowKernels& rows, const Plane& plane, std::int64_t run) {
  const int width = width_index(run);
  const auto all = rows.moves[width < 0 ? 5 : width];
  return *std::find_if(all.begin(), all.end(), [&](const MoveVariant& variant) { return variant.can_run(plane, run); });
}

}  // namespace backslice
#endif
