// Joiner: segments of memory, one after the other, as one tensor. If they are adjacent in one block already, the tensor
// is a view of it, and nothing is moved.
#pragma once

#include "kernels/concat/kernel.h"
#include "ops/call.h"

namespace backslice {

class Joiner {
 public:
  Joiner(DType dtype, std::int64_t item_size, std::size_t parts) : dtype_(dtype), item_size_(item_size) {
    segments_.reserve(parts);
  }

  // Appends zeros. Precondition of all: the size of the segment in bytes fits int64_t.
  void push_zeros(std::int64_t elements) {
    segments_.push_back({nullptr, elements * item_size_});
    if (elements > 0) adjacent_ = false;
  }

  // Appends dense elements at `data`. owner() is the Buffer that holds them; it is called only while all segments are
  // adjacent.
  template <class Owner>
  void push(const std::byte* data, std::int64_t elements, const Owner& owner) {
    segments_.push_back({data, elements * item_size_});
    if (elements == 0 || !adjacent_) return;
    const Buffer& block = owner();
    if (first_ == nullptr) {
      first_ = data;
      block_ = &block;
    } else {
      adjacent_ = data == expected_ && block.is_same_block(*block_);
    }
    expected_ = data + elements * item_size_;
  }

  // Appends memory that is not owned here: no view of it can be returned.
  void push_borrowed(const std::byte* data, std::int64_t elements) {
    segments_.push_back({data, elements * item_size_});
    if (elements > 0) adjacent_ = false;
  }

  // Appends the sum of two or more dense terms.
  void push_sum(std::vector<const std::byte*> terms, std::int64_t elements) {
    const std::byte* first = terms[0];
    terms.erase(terms.begin());
    sums_.push_back({segments_.size(), std::move(terms)});
    segments_.push_back({first, elements * item_size_});
    if (elements > 0) adjacent_ = false;
  }

  // Returns the segments as a tensor of that shape, which has room for exactly them.
  Result<Tensor> join(const Shape& shape, const Call& call) const;

  // Writes the segments into the caller's memory, of that size and any strides. The memory was checked, and overlaps no
  // segment. Sums are for Write::Overwrite only.
  Status join_into(const View& out, Write write, const Call& call) const;

  // Returns whether the view shares memory with a segment.
  bool shares_memory_with(const ConstView& view) const;

 private:
  void write_dense(const View& out, Write write, const Call& call) const;

  // Adds the segments that are not zeros, and touches nothing else: other threads may write there, and minus zero plus
  // zero is not minus zero.
  void add_parts(const View& out, const Call& call) const;

  DType dtype_;
  std::int64_t item_size_;
  std::vector<Segment> segments_;
  std::vector<Sum> sums_;
  bool adjacent_ = true;
  const std::byte *first_ = nullptr, *expected_ = nullptr;
  const Buffer* block_ = nullptr;
};

}  // namespace backslice
