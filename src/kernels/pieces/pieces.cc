#include "kernels/pieces/pieces.h"

#include <algorithm>
#include <vector>

#include "core/caches.h"
#include "kernels/slice/rows.h"
#include "kernels/slice/writer.h"
#include "plan/strategy.h"

namespace backslice {
namespace {

// A run of pieces, or a range of bytes within a long one.
struct Part {
  std::size_t begin, end;        // pieces
  std::int64_t skip, bytes, at;  // from byte `skip` of the first on, `bytes` in all, to byte `at` of the destination
};

// Parts of about the same number of bytes. Long pieces are cut.
std::vector<Part> cut(std::span<const PieceOfBytes> pieces, std::int64_t part_bytes) {
  std::vector<Part> parts;
  Part part{0, 0, 0, 0, 0};
  std::int64_t at = 0;
  const auto finish = [&] {
    if (part.bytes > 0) parts.push_back(part);
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::int64_t left = pieces[i].bytes;
    while (left > 0) {
      if (part.bytes >= part_bytes) {
        finish();
        part = {i, i, pieces[i].bytes - left, 0, at};
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

template <class Writer>
void run(std::byte* dst, std::span<const PieceOfBytes> pieces, const Part& part) {
  Writer writer(dst + part.at, *active_target().rows);
  std::int64_t left = part.bytes, skip = part.skip;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const std::int64_t bytes = std::min(pieces[i].bytes - skip, left);
    pieces[i].data == nullptr ? writer.zero(bytes) : writer.copy(pieces[i].data + skip, bytes);
    left -= bytes;
    skip = 0;
  }
  writer.finish();
}

}  // namespace

void write_pieces(std::byte* dst, std::span<const PieceOfBytes> pieces, const TaskRunner& runner) {
  std::int64_t total = 0;
  for (const PieceOfBytes& piece : pieces) total += piece.bytes;
  const int threads = total < kParallelBytes ? 1 : runner.concurrency();
  const std::vector<Part> parts =
      cut(pieces, std::min(kLargestPieceBytes, std::max<std::int64_t>(1, total / (4 * threads)) + 1));
  const bool streaming = total > caches().l3;
  const auto task = [&](std::int64_t i) {
    const Part& part = parts[static_cast<std::size_t>(i)];
    streaming ? run<StreamWriter>(dst, pieces, part) : run<DirectWriter>(dst, pieces, part);
  };
  if (total >= kParallelBytes) return runner.run(static_cast<std::int64_t>(parts.size()), task);
  for (std::size_t i = 0; i < parts.size(); ++i) task(static_cast<std::int64_t>(i));
}

}  // namespace backslice
