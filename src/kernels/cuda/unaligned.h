// Items whose address need not be a multiple of their width.
#pragma once

#include "kernels/cuda/portable.h"

namespace backslice::cuda {

// `is_aligned` is the same for all threads of a kernel.
template <int kBytes>
BACKSLICE_HD Item<kBytes> load_item(const std::byte* from, bool is_aligned) {
  if (is_aligned) return load<kBytes>(from);
  Item<kBytes> item{};
  if constexpr (kBytes == 16) {
    item.low = load_item<8>(from, false);
    item.high = load_item<8>(from + 8, false);
  } else {
    for (int i = 0; i < kBytes; ++i) {
      item = static_cast<Item<kBytes>>(item | static_cast<std::uint64_t>(load<1>(from + i)) << (8 * i));
    }
  }
  return item;
}

template <int kBytes>
BACKSLICE_HD void store_item(std::byte* to, Item<kBytes> item, bool is_aligned) {
  if (is_aligned) return store<kBytes>(to, item);
  if constexpr (kBytes == 16) {
    store_item<8>(to, item.low, false);
    store_item<8>(to + 8, item.high, false);
  } else {
    for (int i = 0; i < kBytes; ++i) {
      store<1>(to + i, static_cast<std::uint8_t>(static_cast<std::uint64_t>(item) >> (8 * i)));
    }
  }
}

}  // namespace backslice::cuda
