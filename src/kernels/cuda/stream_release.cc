#include "kernels/cuda/stream_release.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "backslice/cuda.h"
#include "kernels/cuda/memory.h"

namespace backslice {
namespace cuda {
namespace {

// Few buffers are used by several streams, so one lock guards the lists of all of them. CUDA calls, which may wait, are
// made without it.
std::mutex uses_mutex;
std::atomic<std::uint64_t> last_ticket = 0;

std::shared_ptr<CUevent_st> new_event(int ordinal) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags", ordinal);
  return {event, [](cudaEvent_t made) { (void)cudaEventDestroy(made); }};
}

unsigned long long number_of(DeviceStream queue) {
  unsigned long long number = 0;
  check(cudaStreamGetId(queue.stream, &number), "cudaStreamGetId", queue.ordinal);
  return number;
}

}  // namespace

bool is_captured(CudaStream stream) noexcept {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream, &status);
  if (error == cudaSuccess) return status != cudaStreamCaptureStatusNone;
  (void)cudaGetLastError();
  return error == cudaErrorStreamCaptureImplicit;
}

struct StreamRelease::SetAside {
  std::byte* data;
  StreamRelease release;

  // Never destroyed: the driver may be gone before the last destructors run.
  static inline std::vector<SetAside>& all = *new std::vector<SetAside>();
  static inline std::mutex mutex;
  static inline std::atomic<bool> any = false;
};

void StreamRelease::keep_for(CudaStream stream) {
  if (is_same(home_.stream, stream)) return;
  const DeviceGuard guard(home_.ordinal);
  if (is_captured(stream)) return;
  const unsigned long long number = number_of({home_.ordinal, stream});
  const std::uint64_t ticket = ++last_ticket;
  auto done = new_event(home_.ordinal);
  check(cudaEventRecord(done.get(), stream), "cudaEventRecord", home_.ordinal);
  remember({number, ticket, std::move(done)});
}

std::vector<StreamRelease::Use> StreamRelease::uses() const {
  const std::lock_guard lock(uses_mutex);
  return uses_;
}

// Only the last use of each stream counts.
void StreamRelease::remember(Use use) {
  {
    const std::lock_guard lock(uses_mutex);
    const auto is_of_stream = [&](const Use& other) { return other.stream == use.stream; };
    const auto known = std::find_if(uses_.begin(), uses_.end(), is_of_stream);
    if (known != uses_.end()) {
      if (known->ticket < use.ticket) std::swap(*known, use);
      return;
    }
    uses_.push_back(std::move(use));
    if (uses_.size() == 1) return;
  }
  forget_finished_uses();
}

// Drops old entries: streams are short-lived, and the memory of a container may outlive thousands of them.
void StreamRelease::forget_finished_uses() {
  std::vector<Use> finished = uses();
  {
    const RelaxedCapture relaxed;
    std::erase_if(finished, [](const Use& use) { return cudaEventQuery(use.done.get()) != cudaSuccess; });
    (void)cudaGetLastError();  // that one is not ready
  }
  const std::lock_guard lock(uses_mutex);
  std::erase_if(uses_, [&](const Use& use) {
    return std::any_of(finished.begin(), finished.end(), [&](const Use& other) { return other.done == use.done; });
  });
}

void StreamRelease::put_behind(CudaStream stream, std::vector<DeviceStream>& awaited) {
  const std::vector<Use> uses = this->uses();
  const bool is_home = is_same(home_.stream, stream);
  if (is_home && uses.empty()) return;
  const DeviceGuard guard(home_.ordinal);
  if (is_captured(stream) || is_captured(home_.stream)) return;
  const unsigned long long number = number_of({home_.ordinal, stream});
  for (const Use& use : uses) {
    if (use.stream == number) continue;
    check(cudaStreamWaitEvent(stream, use.done.get(), 0), "cudaStreamWaitEvent", home_.ordinal);
  }
  const auto is_own = [&](const DeviceStream& other) {
    return other.ordinal == home_.ordinal && is_same(other.stream, home_.stream);
  };
  if (is_home || std::any_of(awaited.begin(), awaited.end(), is_own)) return;
  awaited.push_back(home_);
  if (cuda_wait(home_.ordinal, stream, home_.stream).ok()) return;
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize", home_.ordinal);  // its own stream was destroyed
}

void StreamRelease::operator()(std::byte* data) noexcept {
  int before = 0;
  const bool has_driver = (owner_ == nullptr || !uses_.empty()) && cudaGetDevice(&before) == cudaSuccess;
  if (has_driver) {  // otherwise it is shutting down, or is not needed
    const RelaxedCapture relaxed;
    (void)cudaSetDevice(home_.ordinal);
    give_back(data);
    give_back_set_aside();
    (void)cudaSetDevice(before);
  }
  owner_.reset();
}

// Precondition: its device is current, and captures are relaxed.
void StreamRelease::give_back(std::byte* data) noexcept {
  if (owner_ != nullptr) return wait_for_uses();
  if (is_of_graph_ || !is_captured(home_.stream)) {
    wait_for_uses();
    return free(data);
  }
  try {
    const std::lock_guard lock(SetAside::mutex);
    SetAside::all.push_back({data, std::move(*this)});
    SetAside::any = true;
  } catch (...) {  // no memory for the entry: the block is never freed
  }
}

void StreamRelease::give_back_set_aside() noexcept {
  if (!SetAside::any) return;
  int before = 0;
  if (cudaGetDevice(&before) != cudaSuccess) return;
  const RelaxedCapture relaxed;
  std::vector<SetAside> all;
  {
    const std::lock_guard lock(SetAside::mutex);
    all.swap(SetAside::all);
    SetAside::any = false;
  }
  for (SetAside& one : all) {
    (void)cudaSetDevice(one.release.home_.ordinal);
    one.release.give_back(one.data);  // sets it aside again if that stream is still captured
  }
  (void)cudaSetDevice(before);
}

// Its own stream waits, and so does the next user of the memory. If that stream was destroyed, or is being captured,
// this thread waits.
void StreamRelease::wait_for_uses() noexcept {
  if (uses_.empty()) return;
  const bool on_host = is_captured(home_.stream);
  for (const Use& use : uses_) {
    if (on_host || cudaStreamWaitEvent(home_.stream, use.done.get(), 0) != cudaSuccess) {
      (void)cudaGetLastError();
      (void)cudaEventSynchronize(use.done.get());
    }
  }
  uses_.clear();
}

// If memory cannot be freed in the order of its stream, which may have been destroyed, it is freed when all work is
// done.
void StreamRelease::free(std::byte* data) const noexcept {
  if (cudaFreeAsync(data, home_.stream) == cudaSuccess) return;
  (void)cudaGetLastError();  // this error is ours; an earlier one that the caller has not read stays
  (void)cudaDeviceSynchronize();
  (void)cudaFree(data);
}

}  // namespace cuda

Buffer cuda_wrap(std::shared_ptr<void> owner, std::byte* data, int ordinal, CudaStream stream) {
  return Buffer::own(data, cuda::StreamRelease({ordinal, stream}, std::move(owner)), Device::cuda(ordinal));
}

std::shared_ptr<void> cuda_owner(const Buffer& buffer) {
  const auto* release = buffer.release<cuda::StreamRelease>();
  return release == nullptr ? nullptr : release->owner();
}

Status cuda_keep(const Buffer& buffer, CudaStream stream) {
  return without_throwing([&]() -> Status {
    if (auto* release = buffer.release<cuda::StreamRelease>()) release->keep_for(stream);
    return Status();
  });
}

Status cuda_await(const Buffer& buffer, CudaStream stream) {
  const Buffer* const one = &buffer;
  return cuda::await_all({&one, 1}, stream);
}

Status cuda::await_all(std::span<const Buffer* const> buffers, CudaStream stream) {
  return without_throwing([&]() -> Status {
    std::vector<DeviceStream> awaited;
    for (const Buffer* buffer : buffers) {
      if (auto* release = buffer->release<StreamRelease>()) release->put_behind(stream, awaited);
    }
    return Status();
  });
}

}  // namespace backslice
