// What the handles of one TensorArray share: its slots, what is known of them all, and the locks.
//
// tensor_array.cc makes and closes it, gradient.cc makes its gradients, writing.h and reading.h are what the operations
// on its elements are made of.
#pragma once

#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "backslice/tensor_array.h"
#include "ops/call.h"
#include "tensor_array/slot_table.h"

namespace backslice::tensor_array {

inline constexpr std::int64_t kMaxSize = std::numeric_limits<std::int32_t>::max();  // TensorFlow's indices are int32

// The argument of a call that says which elements it uses: none where it uses all of them.
struct ChosenBy {
  const char* argument = nullptr;
  bool is_list = false;

  // An error about the index of the call's element i, with that argument. Other errors are as they are.
  Status blame(Status error, std::size_t i) const {
    if (error.argument() != "index") return error;
    if (argument == nullptr) return std::move(error).at("");
    return std::move(error).at(argument, is_list ? std::optional(static_cast<std::int64_t>(i)) : std::nullopt);
  }
};
inline constexpr ChosenBy kByIndex{"index"}, kByIndices{"indices", true}, kAll{};

// Two kinds of locks. `mutex` guards what operations on elements only look at (size, closed, element shape): they hold
// it shared, and the few that change it hold it alone. Each slot has its own; those of one operation are locked in the
// order of their indices, so that no two operations wait for each other.
//
// No lock is held while code of a user or of another library runs (executors, allocators, cancellation, deleters). An
// operation checks and claims its slots under the locks, does its work without them, and takes them again to publish
// the outcome. Nothing waits for a claim: a call that meets one of another call fails (FailedPrecondition), where the
// two could not both succeed in either order; calls that could succeed at once, too. Sums of gradient arrays claim
// nothing: they are made from a copy of the terms, and made again if a term was added meanwhile.
struct State {
  State(std::int64_t array_size, DType type, const TensorArrayOptions& given)
      : dtype(type),
        item_size(type == DType::Bytes ? given.item_size : backslice::item_size(type)),
        options(given),
        element_shape(given.element_shape),
        size(array_size),
        device_(packed(given.device)),
        takes_any_device_(given.any_device) {}

  const std::string& name() const { return options.name; }
  std::string title() const;
  std::string prefix() const { return title() + ": "; }

  Device device() const {
    const std::int64_t number = device_;
    return {static_cast<DeviceKind>(number >> 32), static_cast<std::int32_t>(number)};
  }

  // Operations look at the device before they have the mutex, and again when they have it: the first write fixes it.
  bool fixes_device() const { return takes_any_device_; }
  void fix_device(Device device) noexcept {  // precondition: mutex is held alone
    options.device = device;
    device_ = packed(device);
    takes_any_device_ = options.any_device = false;
  }
  Status check_written_device(Device device) const;
  Status check_read_device(Device device) const;

  // Preconditions of both: mutex is held.
  Status check_open() const { return closed ? closed_error() : Status(); }
  bool fixes_shape() const { return options.identical_element_shapes && !element_shape.full(); }

  // 0, 1, ..., count - 1, for what is `done` to all elements.
  Result<std::vector<std::int64_t>> indices_up_to(std::int64_t count, const char* done) const;

  // Runs `body` with mutex held: shared where it changes nothing that mutex guards, else alone. What `changes` says is
  // asked under the lock; when the lock must be changed, `body` still checks everything itself.
  template <class Changes, class Body>
  auto holding_mutex(const Changes& changes, const Body& body) -> decltype(body()) {
    {
      const std::shared_lock lock(mutex);
      if (!changes()) return body();
    }
    const std::unique_lock lock(mutex);
    return body();
  }

  Status closed_error() const;
  Status claimed_error(std::int64_t index) const;

  const DType dtype;
  const std::int64_t item_size;
  TensorArrayOptions options;
  bool is_gradient = false;

  mutable ForkAwareSharedMutex mutex;
  PartialShape element_shape;
  std::int64_t size;
  bool closed = false;
  std::map<std::string, std::shared_ptr<State>, std::less<>> gradients;
  std::optional<Tensor> block;               // in contiguous mode
  bool all_read = false;                     // the block was stacked: every element counts as read
  std::int64_t block_readers = 0;            // calls that stack the block
  std::atomic<std::int64_t> row_claims = 0;  // calls that have claimed slots, where there is a block
  std::atomic<bool> any_cleared = false;

  // An operation that is at work keeps the table that it began with: closing the array replaces it.
  std::shared_ptr<SlotTable> slots = std::make_shared<SlotTable>();

 private:
  // The device, as one number: compilers do not agree whether a struct of two can be atomic without a library.
  static std::int64_t packed(Device device) {
    return std::int64_t{static_cast<std::int32_t>(device.kind)} << 32 | static_cast<std::uint32_t>(device.ordinal);
  }
  std::atomic<std::int64_t> device_;
  std::atomic<bool> takes_any_device_;
};

// What slots no longer hold: released when no lock is held, since its owners may use this array.
using Released = std::vector<std::vector<Tensor>>;

// Whether a shape of which all is known has no more than 2^63 - 1 elements.
Status check_product(const PartialShape& shape, const char* argument);

}  // namespace backslice::tensor_array
