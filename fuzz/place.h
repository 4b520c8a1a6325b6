// Where the tensors of a fuzzer lie. Each program is linked with one answer: on_cpu.cc or on_cuda.cc.
//
// Models look at memory of the CPU alone, so what lies elsewhere is copied, there and back.
#pragma once

#include <vector>

#include "backslice/allocator.h"
#include "backslice/view.h"

namespace backslice::fuzz {

Device place();

inline bool is_on_cpu() { return place().is_cpu(); }

// Memory there.
Allocator& memory_there();

// Done when they return.
void copy_there(std::byte* to, const std::byte* from, std::int64_t bytes);
void copy_back(std::byte* to, const std::byte* from, std::int64_t bytes);

// The bytes that a tensor's elements span, counted from its first element: negative strides reach below it.
struct Span {
  std::int64_t below = 0, above = 0;
};
Span span_of(const Layout& layout);

// A tensor as it is now, in memory of the CPU: where it is, or copied.
class OnCpu {
 public:
  explicit OnCpu(const ConstView& view);
  const ConstView& view() const { return view_; }

 private:
  ConstView view_;
  std::vector<std::byte> copy_;
};

}  // namespace backslice::fuzz
