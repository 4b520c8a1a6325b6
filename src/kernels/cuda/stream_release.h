// StreamRelease: how memory of a device is given back, in the order of its own stream and behind whatever other streams
// still do with it.
//
// Only sources that are compiled with CUDA include this.
#pragma once

#include <memory>
#include <vector>

#include "kernels/cuda/runtime.h"

namespace backslice::cuda {

// Whether work on the stream becomes part of a graph, or is forbidden, as it is on the default stream during the
// capture of another. A stream that is gone is not captured.
bool is_captured(CudaStream stream) noexcept;

class StreamRelease {
 public:
  // Memory of cudaMallocAsync on that stream. Where that was captured, the memory is its graph's.
  StreamRelease(DeviceStream home, bool is_of_graph)
      : home_{home.ordinal, is_of_graph ? home.stream : on_any_thread(home.stream)}, is_of_graph_(is_of_graph) {}
  // Memory that the owner keeps alive.
  StreamRelease(DeviceStream home, std::shared_ptr<void> owner)
      : home_{home.ordinal, on_any_thread(home.stream)}, owner_(std::move(owner)) {}

  const std::shared_ptr<void>& owner() const { return owner_; }

  // The memory is kept for what is queued on `stream` by now. Several threads may call it at once. Throws a
  // StatusException where CUDA refuses.
  void keep_for(CudaStream stream);

  // What is queued on `stream` from now on comes after what uses the memory by now. The same. `awaited` are its own
  // streams of memory that was before this, which are waited for once.
  void put_behind(CudaStream stream, std::vector<DeviceStream>& awaited);

  void operator()(std::byte* data) noexcept;

  // Gives back what was set aside, as far as its streams are no longer captured.
  static void give_back_set_aside() noexcept;

 private:
  // Memory that was let go of while its own stream was captured: the graph must not give it back, and nothing can wait
  // for what the stream had queued before.
  struct SetAside;

  // What another stream had queued when it last used the memory. Streams are told apart by their number, which no later
  // stream has; their handles are used again. An event that was recorded with a higher ticket comes after what was
  // queued before any lower one was taken. Whoever waits for an event shares it.
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
