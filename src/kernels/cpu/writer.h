// Writers: put the bytes of a dense destination in place, from first to last.
//
// A kernel that fills a destination makes a stream of zeros, copies and computed rows. DirectWriter stores them where
// they belong. StreamWriter is for destinations larger than the caches: it composes short ones in a block that stays in
// the L1 cache, and sends whole cache lines past the caches. So no line is read before it is written, and none is
// written in parts. Zeros are only counted until something else follows, so the zeros at the end of one row and the
// start of the next, on any axis, become one run.
//
// Both writers have these functions: zero(bytes); copy(src, bytes); reserve(bytes) for at most kMaxReserve bytes that
// the caller fills, followed by commit(bytes); finish(). spread(src, count, step, src_stride, width) is
// RowKernels::spread for items of 2^width bytes, and lines(src, rows) is RowKernels::stream_rows. These two return
// false if the writer has no faster way than reserve.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/tuning.h"
#include "kernels/cpu/rows.h"

namespace backslice {

inline constexpr std::int64_t kMaxReserve = 4096;

// memset and memcpy with the types of a plan's sizes.
inline void zero_bytes(std::byte* dst, std::int64_t bytes) { std::memset(dst, 0, static_cast<std::size_t>(bytes)); }
inline void copy_bytes(std::byte* dst, const std::byte* src, std::int64_t bytes) {
  std::memcpy(dst, src, static_cast<std::size_t>(bytes));
}

class DirectWriter {
 public:
  DirectWriter(std::byte* dst, const RowKernels& rows) : rows_(rows), dst_(dst) {}

  void zero(std::int64_t bytes) { zeros_ += bytes; }
  void copy(const std::byte* src, std::int64_t bytes) {
    write_zeros();
    copy_bytes(dst_, src, bytes);
    dst_ += bytes;
  }
  // Writes directly if the row kernel writes every byte once.
  bool spread(const std::byte* src, std::int64_t count, std::int64_t step, std::int64_t src_stride, int width) {
    const std::int64_t size = std::int64_t{1} << width;
    if (step > 4 || (src_stride != size && src_stride != -size) || size > 8) return false;
    write_zeros();
    rows_.spread[width](dst_, src, count, step, src_stride);
    dst_ += ((count - 1) * step + 1) * size;
    return true;
  }

  bool lines(const std::byte*, const ShortRows&) { return false; }
  std::byte* reserve(std::int64_t) {
    write_zeros();
    return dst_;
  }
  void commit(std::int64_t bytes) { dst_ += bytes; }
  void finish() { write_zeros(); }

 private:
  void write_zeros() {
    if (zeros_ == 0) return;
    rows_.write_zeros(dst_, zeros_, zeros_);
    dst_ += zeros_;
    zeros_ = 0;
  }

  const RowKernels& rows_;
  std::byte* dst_;
  std::int64_t zeros_ = 0;
};

class StreamWriter {
 public:
  // The block mirrors the destination from the cache line that `dst` lies in.
  StreamWriter(std::byte* dst, const RowKernels& rows) : rows_(rows) {
    begin_ = end_ = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(dst) % kLine);
    line_ = dst - begin_;
  }

  void zero(std::int64_t bytes) { zeros_ += bytes; }

  void copy(const std::byte* src, std::int64_t bytes) {
    write_zeros();
    write(
        bytes, [&](std::byte* to, std::int64_t from, std::int64_t n) { copy_bytes(to, src + from, n); },
        [&](std::byte* to, std::int64_t from, std::int64_t n) { rows_.stream_copy(to, src + from, n); });
  }

  bool spread(const std::byte* src, std::int64_t count, std::int64_t step, std::int64_t src_stride, int width) {
    const std::int64_t size = std::int64_t{1} << width, spacing = step * size;
    const StreamRow stream_row = step == 1 && src_stride == -size  ? rows_.stream_reversed[width]
                                 : step == 2 && src_stride == size ? rows_.stream_spaced[width]
                                                                   : nullptr;
    if (stream_row == nullptr || count * spacing < kTuning.direct_run) return false;
    write_zeros();
    if (end_ % spacing != 0) return false;  // lines would end within items
    const auto src_at = [&](std::int64_t from) { return src + from / spacing * src_stride; };
    write((count - 1) * spacing,
          [&](std::byte* to, std::int64_t from, std::int64_t n) {
            zero_bytes(to, n);
            if (n > 0) rows_.spread[width](to, src_at(from), n / spacing, step, src_stride);
          },
          [&](std::byte* to, std::int64_t from, std::int64_t n) { stream_row(to, src_at(from), n); });
    copy(src + (count - 1) * src_stride, size);  // the last item has no gap after it
    return true;
  }

  // Rows of whole lines, which need not be composed.
  bool lines(const std::byte* src, const ShortRows& shape) {
    if (shape.row_bytes % kLine != 0) return false;
    write_zeros();
    if (end_ % kLine != 0) return false;
    flush_lines();
    rows_.stream_rows(line_, src, shape);
    line_ += shape.rows * shape.row_bytes;
    return true;
  }

  std::byte* reserve(std::int64_t bytes) {
    write_zeros();
    return room(bytes);
  }
  void commit(std::int64_t bytes) { end_ += bytes; }

  void finish() {
    write_zeros();
    flush_lines();
    if (end_ > begin_) copy_bytes(line_ + begin_, block_ + begin_, end_ - begin_);
    rows_.fence();
  }

 private:
  static constexpr std::int64_t kBlock = 2 * kMaxReserve;

  std::byte* room(std::int64_t bytes) {
    if (end_ + bytes > kBlock) flush_lines();
    return block_ + end_;
  }

  std::int64_t bytes_to_line() const { return (kLine - end_ % kLine) % kLine; }

  // Sends the whole lines of the block and moves the rest to its front.
  void flush_lines() {
    std::int64_t from = 0;
    if (begin_ > 0 && end_ >= kLine) {  // the line that contains the start is not all ours
      copy_bytes(line_ + begin_, block_ + begin_, kLine - begin_);
      begin_ = 0;
      from = kLine;
    }
    const std::int64_t whole = end_ / kLine * kLine;
    if (whole == 0) return;
    rows_.stream_copy(line_ + from, block_ + from, whole - from);
    line_ += whole;
    end_ -= whole;
    copy_bytes(block_, block_ + whole, end_);
  }

  void write_zeros() {
    if (zeros_ == 0) return;
    write(
        zeros_, [](std::byte* to, std::int64_t, std::int64_t n) { zero_bytes(to, n); },
        [&](std::byte* to, std::int64_t, std::int64_t n) { rows_.stream_zero(to, n); });
    zeros_ = 0;
  }

  // Writes `bytes` bytes: few of them to the block; many past it, except partial lines at both ends. `put` and `stream`
  // get the destination, the offset in the run, and the number of bytes; stream's are whole lines.
  template <class Put, class Stream>
  void write(std::int64_t bytes, const Put& put, const Stream& stream) {
    if (bytes < kTuning.direct_run) {
      put(room(bytes), 0, bytes);
      end_ += bytes;
      return;
    }
    const std::int64_t head = bytes_to_line();
    put(block_ + end_, 0, head);
    end_ += head;
    flush_lines();
    const std::int64_t whole = (bytes - head) / kLine * kLine;
    stream(line_, head, whole);
    line_ += whole;
    end_ = bytes - head - whole;
    put(block_, head + whole, end_);
  }

  const RowKernels& rows_;
  std::byte* line_;           // where block_[0] belongs: aligned to a line
  std::int64_t begin_, end_;  // the part of the block that is filled; begin_ > 0 in the first line only
  std::int64_t zeros_ = 0;    // still to be written, after the block
  alignas(kLine) std::byte block_[kBlock + kLine];
};

}  // namespace backslice
