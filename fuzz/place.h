// The memory of a fuzzer's tensors. Each program is linked with one implementation: on_cpu.cc or on_cuda.cc.
//
// Models read only the CPU's memory, so tensors elsewhere are copied there and back.
#pragma once

#include <vector>

#include "backslice/allocator.h"
#include "backslice/view.h"

namespace backslice::fuzz {

Device place();

inline bool is_on_cpu() { return place().is_cpu(); }

// Allocates memory there.
Allocator& memory_there();

// Copies bytes; done when they return.
void copy_there(std::byte* to, const std::byte* from, std::int64_t bytes);
void copy_back(std::byte* to, const std::byte* from, std::int64_t bytes);

// Returns the bytes that a tensor's elements span, counted from its first element. Negative strides reach below it.
struct Span {
  std::int64_t below = 0, above = 0;
};
Span span_of(const Layout& layout);

// Returns the current tensor in the CPU's memory: itself, or a copy.
class OnCpu {
 public:
  explicit OnCpu(const ConstView& view);
  const ConstView& view() const { return view_; }

 private:
  ConstView view_;
  std::vector<std::byte> copy_;
};

}  // namespace backslice::fuzz
