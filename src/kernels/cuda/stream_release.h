// StreamRelease: frees device memory in the order of its own stream, and after the work of other streams that still
// uses it.
//
// Only sources that are compiled with CUDA include this.
#pragma once

#include <memory>
#include <vector>

#include "kernels/cuda/runtime.h"

namespace backslice::cuda {

// Whether work on the stream becomes part of a graph, or is forbidden, as on the default stream during the capture of
// another. A destroyed stream is not captured.
bool is_captured(CudaStream stream) noexcept;

class StreamRelease {
 public:
  // Makes the owner of memory from cudaMallocAsync on that stream. If the stream was being captured, the memory belongs
  // to its graph.
  StreamRelease(DeviceStream home, bool is_of_graph)
      : home_{home.ordinal, is_of_graph ? home.stream : on_any_thread(home.stream)}, is_of_graph_(is_of_graph) {}
  // Adopts memory that the owner keeps alive.
  StreamRelease(DeviceStream home, std::shared_ptr<void> owner)
      : home_{home.ordinal, on_any_thread(home.stream)}, owner_(std::move(owner)) {}

  const std::shared_ptr<void>& owner() const { return owner_; }

  // Keeps the memory for the work queued on `stream` by now. Several threads may call it at once. Throws a
  // StatusException if CUDA fails.
  void keep_for(CudaStream stream);

  // Orders later work on `stream` after the work that uses the memory by now. Like keep_for() otherwise. `awaited`
  // holds the own streams of earlier memory, which are waited for once.
  void put_behind(CudaStream stream, std::vector<DeviceStream>& awaited);

  void operator()(std::byte* data) noexcept;

  // Frees memory that was set aside, if its streams are no longer captured.
  static void give_back_set_aside() noexcept;

 private:
  // Memory that was released while its own stream was captured: the graph must not free it, and nothing can wait for
  // the earlier work of the stream.
  struct SetAside;

  // The work of another stream at its last use of the memory. Streams are identified by a number, which no later stream
  // has, since handles are reused. An event with a higher ticket comes after all work that was queued before a lower
  // ticket was taken. All waiters share the event.
  struct Use {
    unsigned long long stream;
    std::uint64_t ticket;
    std::shared_ptr<CUevent_st> done;
  };

  std::vector<Use> uses() const;
  void remember(Use use);

  void forget_finished_uses();
  void give_back(std::byte* data) noexcept;
  void wait_for_uses() noexcept;
  void free(std::byte* data) const noexcept;

  DeviceStream home_;
  std::shared_ptr<void> owner_;
  std::vector<Use> uses_;
  bool is_of_graph_ = false;
};

}  // namespace backslice::cuda
