/// @file
/// Allocator: where results get their memory.
///
/// The default is a pool that keeps the memory of released results for later ones (buffer_pool.h). A framework that has
/// its own memory derives from Allocator and passes it in a Context:
///
///     class Arena final : public Allocator {
///      public:
///       Result<Buffer> allocate(std::int64_t bytes, Contents contents) override {
///         auto* data = static_cast<std::byte*>(arena_->take(bytes));           // aligned to kAlignment
///         if (contents == Contents::Zero) std::fill_n(data, bytes, std::byte{0});
///         return Buffer::wrap(arena_, data);                                   // keeps the arena alive
///       }
///     };
#pragma once

#include <cstdint>

#include "backslice/buffer.h"
#include "backslice/result.h"

namespace backslice {

/// Gives memory to results.
class BACKSLICE_EXPORT Allocator {
 public:
  static constexpr std::int64_t kAlignment = 64;

  virtual ~Allocator() = default;

  /// At least that many bytes, from an address that is a multiple of kAlignment. Several threads may call it at once.
  /// When there is no memory, it returns ResourceExhausted or throws std::bad_alloc.
  virtual Result<Buffer> allocate(std::int64_t bytes, Contents contents) = 0;

  /// Whether Contents::Zero costs nothing until the memory is touched, as pages fresh from the system do. A gradient
  /// that is nearly all zero is then made from such memory.
  virtual bool has_free_zeros() const { return false; }

  /// Where the memory is. Buffers that it gives say the same. Used where an operation's arguments are on that device.
  ///
  /// Memory of a CUDA device must be stream-ordered. Operations only queue work, and let go of buffers while kernels
  /// that are queued still use them. So what a buffer's owner gives back may be given out again, written or unmapped
  /// only behind what is queued by then on the stream that the Context names, as with cudaMallocAsync and
  /// cudaFreeAsync. cuda_allocator() and cuda_wrap() do that; memory that is freed at once is somebody else's too
  /// early.
  virtual Device device() const { return {}; }
};

/// The process's pool.
BACKSLICE_EXPORT Allocator& pool_allocator() noexcept;

}  // namespace backslice
