// A value that several threads may request at once: one of them gets it, the others continue without it.
#pragma once

#include <atomic>

namespace backslice::onnxruntime {

template <class T>
class Kept {
 public:
  /// Holds the value during its lifetime, or nothing if another thread has it.
  class Hold {
   public:
    explicit Hold(Kept& kept) : kept_(kept.is_held_.exchange(true, std::memory_order_acquire) ? nullptr : &kept) {}
    Hold(const Hold&) = delete;
    ~Hold() {
      if (kept_ != nullptr) kept_->is_held_.store(false, std::memory_order_release);
    }

    explicit operator bool() const { return kept_ != nullptr; }
    T& operator*() const { return kept_->value_; }

   private:
    Kept* kept_;
  };

 private:
  std::atomic<bool> is_held_ = false;
  T value_;
};

}  // namespace backslice::onnxruntime
