// SlotList and LockedSlots: the slots of a list of indices, and their locks, taken in the order of the indices, each
// once.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "tensor_array/slot_table.h"

namespace backslice::tensor_array {

// The slots in the order of the call's indices, which may repeat, and each slot once in ascending order.
class SlotList {
 public:
  SlotList() = default;
  SlotList(SlotTable& table, std::span<const std::int64_t> indices) {
    std::vector<std::pair<std::int64_t, Slot*>> sorted;
    sorted.reserve(indices.size());
    slots_.reserve(indices.size());
    table.for_each_of(indices, [&](std::int64_t index, Slot& slot) {
      slots_.push_back(&slot);
      sorted.push_back({index, &slot});
    });
    if (!std::is_sorted(sorted.begin(), sorted.end())) std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    distinct_.reserve(sorted.size());
    for (const auto& [index, slot] : sorted) distinct_.push_back(slot);
  }

  Slot& operator[](std::size_t i) const { return *slots_[i]; }
  std::span<Slot* const> distinct() const { return distinct_; }
  bool has_duplicates() const { return distinct_.size() < slots_.size(); }

 private:
  std::vector<Slot*> slots_, distinct_;
};

class LockedSlots {
 public:
  explicit LockedSlots(const SlotList& list) : slots_(list.distinct()) {
    try {
      for (; locked_ < slots_.size(); ++locked_) slots_[locked_]->mutex.lock();
    } catch (...) {  // in a forked child
      unlock();
      throw;
    }
  }
  ~LockedSlots() { unlock(); }
  LockedSlots(const LockedSlots&) = delete;
  LockedSlots& operator=(const LockedSlots&) = delete;

 private:
  void unlock() noexcept {
    while (locked_ > 0) slots_[--locked_]->mutex.unlock();
  }

  std::span<Slot* const> slots_;
  std::size_t locked_ = 0;
};

}  // namespace backslice::tensor_array
