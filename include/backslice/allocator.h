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

  /// Returns at least that many bytes, at an address that is a multiple of kAlignment. Several threads may call it at
  /// once. Without memory, it returns ResourceExhausted or throws std::bad_alloc.
  virtual Result<Buffer> allocate(std::int64_t bytes, Contents contents) = 0;

  /// Whether Contents::Zero costs nothing until the memory is touched, like pages fresh from the system. A gradient
  /// with few selected elements is then made from such memory.
  virtual bool has_free_zeros() const { return false; }

  /// The device of the memory, and of its buffers. Used if an operation's arguments are on that device.
  ///
  /// Memory of a CUDA device must be stream-ordered. Operations only queue work, and release buffers while queued
  /// kernels still use them. So released memory may be reused, written or unmapped only after the work that is queued
  /// by then on the Context's stream, as with cudaMallocAsync and cudaFreeAsync. cuda_allocator() and cuda_wrap() do
  /// that. Memory that is freed at once would be reused too early.
  virtual Device device() const { return {}; }
};

/// The process's pool.
BACKSLICE_EXPORT Allocator& pool_allocator() noexcept;

}  // namespace backslice
