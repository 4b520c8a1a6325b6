// Plain loops over memory, without plans or slices, so that they measure the memory alone.
#include "memory_probe.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "backslice/executor.h"
#include "kernels/cpu/targets.h"

namespace backslice {
namespace {

// Pieces of about a megabyte that begin and end at cache lines of the destination; the ends are done separately.
template <class Whole, class Ends>
void for_each_piece(std::byte* dst, std::int64_t bytes, const Whole& whole, const Ends& ends) {
  const auto misaligned = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(dst) % kLine);
  const std::int64_t head = std::min(bytes, (kLine - misaligned) % kLine), lines = (bytes - head) / kLine;
  ends(0, head);
  ends(head + lines * kLine, bytes - head - lines * kLine);
  constexpr std::int64_t kPiece = (1 << 20) / kLine;
  const std::int64_t pieces = (lines + kPiece - 1) / kPiece;
  default_executor().run(pieces, [&](std::int64_t i) {
    const std::int64_t count = std::min(kPiece, lines - i * kPiece);
    whole(head + i * kPiece * kLine, count * kLine);
    active_target().rows->fence();
  });
}

}  // namespace

void probe_zero(std::byte* dst, std::int64_t bytes, ProbeStores stores) {
  const auto ordinary = [&](std::int64_t at, std::int64_t n) { std::memset(dst + at, 0, static_cast<std::size_t>(n)); };
  const auto streaming = [&](std::int64_t at, std::int64_t n) { active_target().rows->stream_zero(dst + at, n); };
  if (stores == ProbeStores::Ordinary) return for_each_piece(dst, bytes, ordinary, ordinary);
  for_each_piece(dst, bytes, streaming, ordinary);
}

void probe_copy(std::byte* dst, const std::byte* src, std::int64_t bytes, ProbeStores stores) {
  const auto ordinary = [&](std::int64_t at, std::int64_t n) {
    std::memcpy(dst + at, src + at, static_cast<std::size_t>(n));
  };
  const auto streaming = [&](std::int64_t at, std::int64_t n) {
    active_target().rows->stream_copy(dst + at, src + at, n);
  };
  if (stores == ProbeStores::Ordinary) return for_each_piece(dst, bytes, ordinary, ordinary);
  for_each_piece(dst, bytes, streaming, ordinary);
}

std::int64_t probe_read(const std::byte* src, std::int64_t bytes) {
  constexpr std::int64_t kPiece = 1 << 20;
  std::atomic<std::int64_t> total = 0;
  default_executor().run((bytes + kPiece - 1) / kPiece, [&](std::int64_t i) {
    std::int64_t sum = 0;
    const std::int64_t end = std::min(bytes, (i + 1) * kPiece);
    for (std::int64_t at = i * kPiece; at < end; at += kLine) sum += static_cast<std::int64_t>(src[at]);
    total += sum;
  });
  return total;
}

}  // namespace backslice
