// Placed: a tensor whose memory ends where its elements end, so that the address sanitizer sees every access outside
// it.
//
// The strides are what the input says: contiguous, with axes in any order, gaps and reversed axes, or, for inputs of
// operations, anything at all. The memory lies between poisoned canaries, at any alignment.
#pragma once

#include <memory>

#include "backslice/tensor.h"
#include "fuzz/input.h"
#include "fuzz/values.h"

namespace backslice::fuzz {

enum class Strides { Contiguous, Distinct, Any };  // Distinct: no two elements share a byte

// The element size of a dtype; for DType::Bytes one that the input chooses.
std::int64_t any_item_size(Input& in, DType dtype);

class Placed {
 public:
  Placed(Input& in, DType dtype, std::int64_t item_size, const Numbers& shape, Strides most);
  ~Placed();
  Placed(Placed&&) = default;

  const View& view() const { return view_; }
  Values values() const { return values_of(view_); }
  void set_zero() const;

  // Bytes around and between the elements are as they were when the tensor was made.
  void check_gaps() const;

 private:
  static constexpr std::int64_t kCanary = 64;

  void allocate(Input& in, std::int64_t below, std::int64_t span);

  View view_;
  std::int64_t front_ = 0, span_ = 0;       // canary before the elements, bytes they span
  std::unique_ptr<std::byte[]> memory_;     // of everything but strings
  std::vector<std::byte> before_;           // what it held when it was made
  std::unique_ptr<std::string[]> strings_;  // of strings
  std::vector<std::string> strings_before_;
};

// The same tensor with an owner: goes with its last copy.
inline Tensor owned(Placed placed) {
  auto owner = std::make_shared<Placed>(std::move(placed));
  const View view = owner->view();
  return Tensor::of(Buffer::wrap(owner, view.data), view);
}

}  // namespace backslice::fuzz
