// A value that several threads may want at once: one of them has it, the others find none and go on without.
#pragma once

#include <atomic>
#include <memory>

namespace backslice::onnxruntime {

template <class T>
class Kept {
 public:
  Kept() = default;
  Kept(const Kept&) = delete;
  ~Kept() { take(); }

  std::unique_ptr<T> take() { return std::unique_ptr<T>(value_.exchange(nullptr, std::memory_order_acquire)); }
  void put(std::unique_ptr<T> value) {
    const std::unique_ptr<T> before(value_.exchange(value.release(), std::memory_order_acq_rel));
  }

 private:
  std::atomic<T*> value_ = nullptr;
};

}  // namespace backslice::onnxruntime
