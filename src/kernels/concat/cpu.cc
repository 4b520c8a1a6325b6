#include <algorithm>

#include "core/items.h"
#include "kernels/concat/kernel.h"
#include "kernels/cpu/addition.h"
#include "kernels/cpu/writer.h"

namespace backslice {
namespace {

// A run of segments, or a range of bytes within a long one.
struct Part {
  std::size_t begin, end;        // segments
  std::int64_t skip, bytes, at;  // from byte `skip` of the first on, `bytes` in all, to byte `at` of the destination
};

// Parts of that many bytes. Long segments are cut.
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

// Bytes [lo, lo + bytes) of a sum, a block that stays in the L1 cache at a time.
template <class Writer>
void write_sum(Writer& writer, const Segment& segment, std::int64_t lo, std::int64_t bytes, AddRow add,
               std::int64_t item_size) {
  const std::int64_t block = std::max(item_size, kMaxReserve / item_size * item_size);
  for (const std::int64_t hi = lo + bytes; lo < hi; lo += block) {
    const std::int64_t now = std::min(block, hi - lo);
    std::byte* to = writer.reserve(now);
    copy_bytes(to, segment.first + lo, now);
    for (const std::byte* term : *segment.more) add(to, term + lo, now / item_size);
    writer.commit(now);
  }
}

template <class Writer>
void run(std::byte* dst, std::span<const Segment> segments, const Part& part, AddRow add, std::int64_t item_size,
         const RowKernels& rows) {
  Writer writer(dst + part.at, rows);
  std::int64_t left = part.bytes, skip = part.skip;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const Segment& segment = segments[i];
    const std::int64_t bytes = std::min(segment.bytes - skip, left);
    if (segment.first == nullptr) {
      writer.zero(bytes);
    } else if (segment.more == nullptr) {
      writer.copy(segment.first + skip, bytes);
    } else {
      write_sum(writer, segment, skip, bytes, add, item_size);
    }
    left -= bytes;
    skip = 0;
  }
  writer.finish();
}

}  // namespace

void concat(std::byte* dst, std::span<const Segment> segments, DType dtype, std::int64_t item_size,
            const KernelContext& context) {
  if (!are_bytes(dtype)) return reference::concat(dst, segments, dtype, item_size);
  std::int64_t total = 0;
  for (const Segment& segment : segments) total += segment.bytes;
  if (total == 0) return;
  const std::int64_t items = total / item_size;  // so that no item is cut
  const std::vector<Part> parts = cut(segments, (items + context.pieces - 1) / context.pieces * item_size);
  const AddRow add = addition_of(dtype, context.rows);
  context.tasks.run(static_cast<std::int64_t>(parts.size()), [&](std::int64_t i) {
    const Part& part = parts[static_cast<std::size_t>(i)];
    const auto run_part = context.stores == Stores::Streaming ? run<StreamWriter> : run<DirectWriter>;
    run_part(dst, segments, part, add, item_size, context.rows);
  });
}

}  // namespace backslice
