// SharedBlock: tensors of any strides in one block of memory. Operations must refuse outputs that overlap themselves or
// an input.
#pragma once

#include "backslice/tensor.h"
#include "fuzz/input.h"
#include "fuzz/must.h"
#include "fuzz/values.h"

namespace backslice::fuzz {

class SharedBlock {
 public:
  // Returns whether tensors of this shape stay within the block, whatever their strides.
  static bool has_room_for(const Shape& shape) {
    if (shape.elements() > 4096) return false;
    return std::ranges::all_of(shape, [](std::int64_t extent) { return extent <= 64; });
  }

  // Precondition: has_room_for(shape), rank at most 5.
  View view(Input& in, DType dtype, std::int64_t item_size, const Shape& shape) {
    Numbers strides(static_cast<std::size_t>(shape.rank()));
    for (std::int64_t& stride : strides) stride = in.within(-24, 24);
    auto* data = memory_.data() + kSize / 2 + in.within(-64, 64);
    View made =
        must_get(View::strided(data, dtype, Numbers(shape.begin(), shape.end()), strides, item_size), "a small view");
    made.device = memory_.device();
    return made;
  }

  // Returns whether two elements of the output, or one of it and one of an input, share a byte.
  bool overlaps(const View& out, const std::vector<ConstView>& inputs) const {
    const Taken to = taken(out);
    bool shared = to.twice;
    for (const ConstView& input : inputs) {
      const Taken from = taken(input);
      for (std::size_t i = 0; i < kSize; ++i) shared |= from.bytes[i] && to.bytes[i];
    }
    return shared;
  }

 private:
  static constexpr std::size_t kSize = 1 << 16;

  struct Taken {
    std::vector<bool> bytes;
    bool twice = false;
  };

  Taken taken(const ConstView& view) const {
    Taken taken{std::vector<bool>(kSize)};
    for_each_index(view.shape(), [&](const Numbers& index) {
      const auto at = static_cast<std::size_t>(view.data + offset_of(view.layout, index) - memory_.data());
      for (std::size_t i = at; i < at + static_cast<std::size_t>(view.layout.item_size); ++i) {
        taken.twice |= taken.bytes[i];
        taken.bytes[i] = true;
      }
    });
    return taken;
  }

  Buffer memory_ = must_get(memory_there().allocate(kSize, Contents::Zero), "a little memory");
};

}  // namespace backslice::fuzz
