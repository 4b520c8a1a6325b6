// InlineVector: a list of at most kMaxRank items, stored in place. Making and copying one costs what is in it, not what
// would fit.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

namespace backslice {

inline constexpr int kMaxRank = 32;

template <class T>
class InlineVector {
 public:
  InlineVector() {}
  InlineVector(const InlineVector& other) : size_(other.size_) { copy_items(other); }
  InlineVector& operator=(const InlineVector& other) {
    size_ = other.size_;
    copy_items(other);
    return *this;
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](std::ptrdiff_t i) const { return items_[i]; }
  T& operator[](std::ptrdiff_t i) { return items_[i]; }
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
  const T* begin() const { return items_; }
  const T* end() const { return items_ + size_; }
  T* begin() { return items_; }
  T* end() { return items_ + size_; }
  operator std::span<const T>() const { return {items_, static_cast<std::size_t>(size_)}; }
  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  // A few items at once: a size known to the compiler needs no call, and what lies after the last item is never read.
  void copy_items(const InlineVector& other) {
    constexpr int kAtOnce = 4;
    static_assert(kMaxRank % kAtOnce == 0);
    for (int i = 0; i < size_; i += kAtOnce) {
      std::memcpy(static_cast<void*>(items_ + i), other.items_ + i, kAtOnce * sizeof(T));
    }
  }

  int size_ = 0;
  static_assert(std::is_trivially_copyable_v<T>);
  union {  // so that no item is made before it is pushed
    T items_[kMaxRank];
  };
};

}  // namespace backslice
