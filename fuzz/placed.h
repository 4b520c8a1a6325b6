// Placed: a tensor whose memory ends exactly with its elements, so that the address sanitizer finds every access
// outside it.
//
// The input chooses the strides: contiguous, or with axes in any order, gaps and reversed axes, or, for inputs of
// operations, any strides. The memory lies between poisoned canaries, at any alignment. On a device it is a copy of
// such memory, with canaries, at the same distance from a multiple of 256.
#pragma once

#include <memory>

#include "backslice/tensor.h"
#include "fuzz/input.h"
#include "fuzz/place.h"
#include "fuzz/values.h"

namespace backslice::fuzz {

enum class Strides { Contiguous, Distinct, Any };  // Distinct: no two elements share a byte

// Returns the element size of a dtype; for DType::Bytes the input chooses one.
std::int64_t any_item_size(Input& in, DType dtype);

class Placed {
 public:
  Placed(Input& in, DType dtype, std::int64_t item_size, const Numbers& shape, Strides most, Device device = place());
  ~Placed();
  Placed(Placed&&) = default;

  const View& view() const { return view_; }
  Values values() const { return values_of(fetched()); }
  void set_zero() const;

  // Calls body(view of the elements in the CPU's memory), which may change them.
  template <class Body>
  void edit(const Body& body) const {
    body(fetched());
    send();
  }

  // Checks that bytes around and between the elements are unchanged since the tensor was made.
  void check_gaps() const;

 private:
  static constexpr std::int64_t kCanary = 64;

  void allocate(Input& in, std::int64_t below, std::int64_t span);
  const View& fetched() const;
  void send() const;
  std::byte* there() const { return view_.data + (memory_.get() - host_.data); }

  View view_, host_;  // on its device, and in the CPU's memory
  Buffer device_memory_;
  std::int64_t front_ = 0, span_ = 0;       // the canary before the elements, and the bytes they span
  std::unique_ptr<std::byte[]> memory_;     // of all dtypes but strings
  std::vector<std::byte> before_;           // its content when it was made
  std::unique_ptr<std::string[]> strings_;  // of strings
  std::vector<std::string> strings_before_;
};

// Returns the same tensor with an owner, which is freed with its last copy.
inline Tensor owned(Placed placed) {
  auto owner = std::make_shared<Placed>(std::move(placed));
  const View view = owner->view();
  return Tensor::of(Buffer::wrap(owner, view.data, view.device), view);
}

}  // namespace backslice::fuzz
