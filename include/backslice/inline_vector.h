/// @file
/// InlineVector: a list of at most kMaxRank items, stored in place. Making and copying one costs as much as it holds,
/// not as much as it could hold.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <span>
#include <type_traits>

#include "backslice/export.h"

namespace backslice {

inline constexpr int kMaxRank = 32;

template <class T>
class InlineVector {
 public:
  InlineVector() {}
  /// Precondition: no more than kMaxRank.
  explicit InlineVector(std::span<const T> items) : size_(static_cast<int>(items.size())) {
    assert(items.size() <= kMaxRank);
    copy_items(items.data());
  }
  InlineVector(const InlineVector& other) : size_(other.size_) { copy_items(other.items_); }
  InlineVector& operator=(const InlineVector& other) {
    size_ = other.size_;
    copy_items(other.items_);
    return *this;
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](std::ptrdiff_t i) const& BACKSLICE_LIFETIME_BOUND { return items_[i]; }
  T& operator[](std::ptrdiff_t i) & BACKSLICE_LIFETIME_BOUND { return items_[i]; }
  T operator[](std::ptrdiff_t i) const&& { return items_[i]; }
  void push_back(const T& item) {
    assert(size_ < kMaxRank);
    items_[size_++] = item;
  }
  void resize_down(int size) {
    assert(size <= size_);
    size_ = size;
  }
  void erase_first() {
    std::copy(items_ + 1, items_ + size_, items_);
    --size_;
  }
  T* data() & BACKSLICE_LIFETIME_BOUND { return items_; }
  const T* data() const& BACKSLICE_LIFETIME_BOUND { return items_; }
  const T* begin() const& BACKSLICE_LIFETIME_BOUND { return items_; }
  const T* end() const& BACKSLICE_LIFETIME_BOUND { return items_ + size_; }
  T* begin() & BACKSLICE_LIFETIME_BOUND { return items_; }
  T* end() & BACKSLICE_LIFETIME_BOUND { return items_ + size_; }
  void data() const&& = delete;  ///< Temporaries do not lend their items.
  void begin() const&& = delete;
  void end() const&& = delete;
  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    if (a.size_ != b.size_) return false;
    for (int i = 0; i < a.size_; ++i) {  // one by one, too
      if (!(a.items_[i] == b.items_[i])) return false;
    }
    return true;
  }

 private:
  // One by one, and the few that are usual without a loop, which compilers turn into wide loads: a wide load of items
  // that were pushed a moment ago waits until they have left the processor's store buffer.
  void copy_items(const T* from) {
    if (size_ == 0) return;
    items_[0] = from[0];
    if (size_ == 1) return;
    items_[1] = from[1];
    if (size_ == 2) return;
    items_[2] = from[2];
    if (size_ == 3) return;
    items_[3] = from[3];
    for (int i = 4; i < size_; ++i) items_[i] = from[i];
  }

  int size_ = 0;
  static_assert(std::is_trivially_copyable_v<T>);
  union {  // so that no item is made before it is pushed
    T items_[kMaxRank];
  };
};

}  // namespace backslice
