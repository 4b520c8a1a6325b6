// The lists of a node's last run, in few cache lines: a graph may have many nodes, whose data is evicted between their
// turns.
#pragma once

#include "list_input.h"

namespace backslice::onnxruntime {

class KeptLists {
 public:
  /// Nothing for a missing list.
  void add(const std::optional<std::vector<std::int64_t>>& list) {
    sizes_[lists_++] = list ? static_cast<std::int32_t>(list->size()) : kLeftOut;
    if (!list) return;
    for (const std::int64_t integer : *list) {
      if (count_ < kFew) few_[count_] = integer;
      if (count_ == kFew) all_.assign(few_, few_ + kFew);
      if (count_ >= kFew) all_.push_back(integer);
      ++count_;
    }
  }

  /// Whether reading the inputs would give these lists. May return false wrongly.
  template <class... Inputs>
  bool are_held_by(const Call& call, const Inputs&... inputs) const {
    const std::int64_t* next = count_ <= kFew ? few_ : all_.data();
    int i = 0;
    const auto holds = [&](const ListInput& input) {
      const std::int32_t size = sizes_[i++];
      if (size == kLeftOut) return input.is_left_out(call);
      next += size;
      return input.holds(call, {next - size, static_cast<std::size_t>(size)});
    };
    return (holds(inputs) && ...);
  }

 private:
  static constexpr std::int32_t kLeftOut = -1;

  static constexpr std::size_t kFew = 15;  // the lists of a slice of three axes

  std::int32_t sizes_[5] = {};
  std::int32_t lists_ = 0;
  std::size_t count_ = 0;
  std::int64_t few_[kFew] = {};
  std::vector<std::int64_t> all_;  // for longer lists
};

}  // namespace backslice::onnxruntime
