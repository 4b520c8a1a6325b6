// SlotTable: the slots of a TensorArray, made at first use, so that a high index costs no more than a low one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "backslice/tensor.h"
#include "core/fork.h"

namespace backslice::tensor_array {

// One index of the array.
struct Slot {
  ForkAwareMutex mutex;
  std::vector<Tensor> terms;  // the written tensors; several only in gradient arrays
  Shape shape;                // of what was written
  bool written = false;       // with no terms and not cleared: zeros of that shape
  bool read = false, cleared = false;
  bool claimed = false;       // by a call that writes the slot's row, or will clear the slot
  std::uint32_t readers = 0;  // number of calls that read the slot and will not clear it
  std::uint32_t version = 0;  // number of writes

  void mark_written(const Shape& of_value) noexcept {
    shape = of_value;
    written = true;
    ++version;
  }
};

class SlotTable {
 public:
  // Thread-safe. References stay valid until the table is destroyed. The slot's own mutex guards its contents.
  Slot& operator[](std::int64_t index) {
    const std::lock_guard lock(mutex_);
    auto& chunk = chunks_[index / kChunk];
    if (chunk == nullptr) chunk = std::make_unique<Chunk>();
    return (*chunk)[static_cast<std::size_t>(index % kChunk)];
  }

  // Calls body(index, slot) for many indices; adjacent indices need one look-up for all.
  template <class Body>
  void for_each_of(std::span<const std::int64_t> indices, const Body& body) {
    const std::lock_guard lock(mutex_);
    std::int64_t number = -1;
    Chunk* chunk = nullptr;
    for (std::int64_t index : indices) {
      if (index / kChunk != number) {
        number = index / kChunk;
        auto& found = chunks_[number];
        if (found == nullptr) found = std::make_unique<Chunk>();
        chunk = found.get();
      }
      body(index, (*chunk)[static_cast<std::size_t>(index % kChunk)]);
    }
  }

  // Calls body(index, slot) for the existing slots, in any order. Precondition: no other thread uses the table.
  template <class Body>
  void for_each(const Body& body) const {
    for (const auto& [number, chunk] : chunks_) {
      if (chunk == nullptr) continue;  // its allocation has failed
      for (std::int64_t i = 0; i < kChunk; ++i) body(number * kChunk + i, (*chunk)[static_cast<std::size_t>(i)]);
    }
  }

  // The same for the written slots.
  template <class Body>
  void for_each_written(const Body& body) const {
    for_each([&](std::int64_t index, const Slot& slot) {
      if (slot.written) body(index, slot);
    });
  }

 private:
  static constexpr std::int64_t kChunk = 32;
  using Chunk = std::array<Slot, kChunk>;

  ForkAwareMutex mutex_;
  std::unordered_map<std::int64_t, std::unique_ptr<Chunk>> chunks_;
};

}  // namespace backslice::tensor_array
