// The state that the handles of one TensorArray share: its slots, the properties of the array, and the locks.
//
// tensor_array.cc makes and closes it, and gradient.cc makes its gradients. writing.h and reading.h have the common
// parts of the operations on elements.
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

// The argument that lists the indices of a call; empty if the call uses all elements.
struct ChosenBy {
  const char* argument = nullptr;
  bool is_list = false;

  // Adds that argument and index i to an error about an element of the call. Other errors are returned unchanged.
  Status blame(Status error, std::size_t i) const {
    if (error.argument() != "index") return error;
    if (argument == nullptr) return std::move(error).at("");
    return std::move(error).at(argument, is_list ? std::optional(static_cast<std::int64_t>(i)) : std::nullopt);
  }
};
inline constexpr ChosenBy kByIndex{"index"}, kByIndices{"indices", true}, kAll{};

// There are two kinds of locks. `mutex` guards the properties (size, closed, element shape): operations on elements
// hold it shared, and the few that change properties hold it alone. Each slot has its own lock; an operation locks its
// slots in the order of their indices, so that no two operations wait for each other.
//
// No lock is held while code of a user or of another library runs (executors, allocators, cancellation, deleters). An
// operation checks and claims its slots under the locks, works without them, and takes them again to publish the
// outcome. No call waits for a claim. A call that meets one fails with FailedPrecondition, unless both could succeed in
// either order; then both succeed. Sums of gradient arrays claim nothing: they are made from a copy of the terms, and
// made again if another call added a term meanwhile.
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

  // Operations check the device before they lock the mutex, and again afterwards, because the first write fixes it.
  bool fixes_device() const { return takes_any_device_; }
  void fix_device(Device device) noexcept {  // precondition: the mutex is held alone
    options.device = device;
    device_ = packed(device);
    takes_any_device_ = options.any_device = false;
  }
  Status check_written_device(Device device) const;
  Status check_read_device(Device device) const;

  // Precondition of both: the mutex is held.
  Status check_open() const { return closed ? closed_error() : Status(); }
  bool fixes_shape() const { return options.identical_element_shapes && !element_shape.full(); }

  // Returns 0, 1, ..., count - 1: all elements.
  Result<std::vector<std::int64_t>> indices_up_to(std::int64_t count, const char* done) const;

  // Runs `body` with the mutex held: shared if it changes nothing that the mutex guards, else alone. changes() is
  // called under the lock. If the lock must be changed, `body` checks everything again.
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
  std::atomic<std::int64_t> row_claims = 0;  // number of calls that have claimed slots, if there is a block
  std::atomic<bool> any_cleared = false;

  // A running operation keeps the table that it began with: closing the array replaces it.
  std::shared_ptr<SlotTable> slots = std::make_shared<SlotTable>();

 private:
  // The device as one number: whether an atomic struct of two numbers needs a library depends on the compiler.
  static std::int64_t packed(Device device) {
    return std::int64_t{static_cast<std::int32_t>(device.kind)} << 32 | static_cast<std::uint32_t>(device.ordinal);
  }
  std::atomic<std::int64_t> device_;
  std::atomic<bool> takes_any_device_;
};

// Contents that slots gave up. They are released when no lock is held, since their owners may use this array.
using Released = std::vector<std::vector<Tensor>>;

// Returns whether a fully known shape has at most 2^63 - 1 elements.
Status check_product(const PartialShape& shape, const char* argument);

}  // namespace backslice::tensor_array
