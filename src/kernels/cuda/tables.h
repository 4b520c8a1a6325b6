// Tables that the CPU makes and a kernel reads. They travel as arguments of kernels, not as copies: a graph that is
// captured keeps them, and nothing waits for them.
#pragma once

#include <vector>

#include "kernels/cuda/memory.h"

namespace backslice::cuda {

class Tables {
 public:
  // Appends a table and returns how far from the first byte it will lie.
  template <class T>
  std::int64_t append(const std::vector<T>& table) {
    const auto at = static_cast<std::int64_t>(bytes_.size());
    const auto* first = reinterpret_cast<const std::byte*>(table.data());
    bytes_.insert(bytes_.end(), first, first + table.size() * sizeof(T));
    bytes_.resize((bytes_.size() + 15) / 16 * 16);
    return at;
  }

  // Puts all of them into memory of the device, behind what was queued before. Throws a StatusException where CUDA
  // refuses.
  Buffer upload(Allocator& allocator, DeviceStream queue) const;

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace backslice::cuda
