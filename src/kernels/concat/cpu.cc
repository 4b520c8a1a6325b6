#include <algorithm>

#include "core/items.h"
#include "kernels/concat/kernel.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/writer.h"

namespace backslice {
namespace {

// A range of segments, or a range of bytes within a long one.
struct Part {
  std::size_t begin, end;        // segments
  std::int64_t skip, bytes, at;  // from byte `skip` of the first on, `bytes` in all, to byte `at` of the destination
};

// Cuts the segments into pieces of that many bytes. Long segments are cut.
std::vector<Part> cut(std::span<const Segment> segments, std::int64_t part_bytes) {
  std::vector<Part> parts;
  Part part{0, 0, 0, 0, 0};
  std::int64_t at = 0;
  const auto finish = [&] {
    if (part.bytes > 0) parts.push_back(part);
  };
  for (std::size_t i = 0; i < segments.size(); ++i) {
    std::int64_t left = segments[i].bytes;
    while (left > 0) {
      if (part.bytes >= part_bytes) {
        finish();
        part = {i, i, segments[i].bytes - left, 0, at};
      }
      const std::int64_t take = std::min(left, part_bytes - part.bytes);
      part.bytes += take;
      part.end = i + 1;
      left -= take;
      at += take;
    }
  }
  finish();
  return parts;
}

// Calls body(segment, its first byte in the piece, number of bytes) for the segments of a piece.
template <class Body>
void for_each_segment(const Part& part, std::span<const Segment> segments, const Body& body) {
  std::int64_t left = part.bytes, skip = part.skip;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const std::int64_t bytes = std::min(segments[i].bytes - skip, left);
    body(i, skip, bytes);
    left -= bytes;
    skip = 0;
  }
}

// Shared by all pieces of one concatenation.
struct Concatenation {
  std::byte* dst;
  std::span<const Segment> segments;
  std::span<const Sum> sums;
  AddRow add;
  std::int64_t item_size;
  const RowKernels& rows;

  // Computes bytes [lo, lo + bytes) of a sum, in blocks that stay in the L1 cache.
  template <class Writer>
  void write_sum(Writer& writer, const Sum& sum, std::int64_t lo, std::int64_t bytes) const {
    const std::byte* first = segments[sum.segment].first;
    const std::int64_t block = std::max(item_size, kMaxReserve / item_size * item_size);
    for (const std::int64_t hi = lo + bytes; lo < hi; lo += block) {
      const std::int64_t now = std::min(block, hi - lo);
      std::byte* to = writer.reserve(now);
      copy_bytes(to, first + lo, now);
      for (const std::byte* term : sum.terms) add(to, term + lo, now / item_size);
      writer.commit(now);
    }
  }

  const Sum* first_sum_from(std::size_t segment) const {
    const auto found = std::lower_bound(sums.begin(), sums.end(), segment,
                                        [](const Sum& sum, std::size_t at) { return sum.segment < at; });
    return sums.data() + (found - sums.begin());
  }

  // Writes every byte of a piece.
  template <class Writer>
  void overwrite(const Part& part) const {
    Writer writer(dst + part.at, rows);
    const Sum *sum = first_sum_from(part.begin), *end = sums.data() + sums.size();
    for_each_segment(part, segments, [&](std::size_t i, std::int64_t skip, std::int64_t bytes) {
      if (segments[i].first == nullptr) {
        writer.zero(bytes);
      } else if (sum == end || sum->segment != i) {
        writer.copy(segments[i].first + skip, bytes);
      } else {
        write_sum(writer, *sum++, skip, bytes);
      }
    });
    writer.finish();
  }

  // Copies or adds the segments of a piece that are not zeros.
  void write_between_zeros(const Part& part, Write write) const {
    std::byte* to = dst + part.at;
    for_each_segment(part, segments, [&](std::size_t i, std::int64_t skip, std::int64_t bytes) {
      const std::byte* first = segments[i].first;
      if (first != nullptr && write == Write::Accumulate) {
        add(to, first + skip, bytes / item_size);
      } else if (first != nullptr) {
        copy_bytes(to, first + skip, bytes);
      }
      to += bytes;
    });
  }
};

}  // namespace

void concat(std::byte* dst, std::span<const Segment> segments, DType dtype, std::int64_t item_size,
            const KernelContext& context, std::span<const Sum> sums, Write write) {
  if (!are_bytes(dtype)) return reference::concat(dst, segments, dtype, item_size, sums, write);
  std::int64_t total = 0;
  for (const Segment& segment : segments) total += segment.bytes;
  if (total == 0) return;
  const std::int64_t items = total / item_size;  // so that no item is cut
  const std::vector<Part> parts = cut(segments, (items + context.pieces - 1) / context.pieces * item_size);
  const Concatenation all{dst, segments, sums, addition_of(dtype, context.rows), item_size, context.rows};
  context.tasks.run(static_cast<std::int64_t>(parts.size()), [&](std::int64_t i) {
    const Part& part = parts[static_cast<std::size_t>(i)];
    if (write != Write::Overwrite) return all.write_between_zeros(part, write);
    if (context.stores == Stores::Streaming) return all.overwrite<StreamWriter>(part);
    all.overwrite<DirectWriter>(part);
  });
}

}  // namespace backslice
