// LockedSlots: the slots of indices, locked in the order of the indices, each once.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "execute/task_runner.h"
#include "tensor_array/slot_table.h"

namespace backslice::tensor_array {

class LockedSlots {
 public:
  LockedSlots(SlotTable& slots, std::span<const std::int64_t> indices, const TaskRunner& runner) {
    std::vector<std::pair<std::int64_t, Slot*>> sorted;
    sorted.reserve(indices.size());
    slots_.reserve(indices.size());
    std::int64_t step = 0;
    slots.for_each_of(indices, [&](std::int64_t index, Slot& slot) {
      runner.throw_if_cancelled_at(++step);
      slots_.push_back(&slot);
      sorted.push_back({index, &slot});
    });
    if (!std::is_sorted(sorted.begin(), sorted.end())) std::sort(sorted.begin(), sorted.end());
    runner.throw_if_cancelled_at(step);
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    has_duplicates_ = sorted.size() < slots_.size();
    locked_.reserve(sorted.size());
    try {
      for (const auto& [index, slot] : sorted) {
        slot->mutex.lock();
        locked_.push_back(slot);
      }
    } catch (...) {  // in a forked child
      unlock();
      throw;
    }
  }
  ~LockedSlots() { unlock(); }
  LockedSlots(const LockedSlots&) = delete;
  LockedSlots& operator=(const LockedSlots&) = delete;

  Slot& operator[](std::size_t i) { return *slots_[i]; }
  bool has_duplicates() const { return has_duplicates_; }

 private:
  void unlock() noexcept {
    for (Slot* slot : locked_) slot->mutex.unlock();
  }

  std::vector<Slot*> slots_, locked_;
  bool has_duplicates_ = false;
};

}  // namespace backslice::tensor_array
