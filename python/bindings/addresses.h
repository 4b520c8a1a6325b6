// Tensors whose addresses the caller knows, as backslice.torch gives those of PyTorch.
//
// A memory is (address, offset, shape, strides), the last three in elements. Where it all is: (ordinal, stream, NumPy
// dtype, new_memory).
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <span>

#include "backslice/multi_slice.h"
#include "bindings/dtypes.h"

namespace backslice::python {

namespace nb = nanobind;

// Where the tensors of a call are, and what they hold. Refers to the tuple that it was read from.
class Where {
 public:
  explicit Where(nb::handle given);
  Where(const Where&) = delete;

  const Device& device() const { return device_; }
  const Context& context() const { return context_; }
  nb::handle new_memory() const { return new_memory_; }  // makes memory for tables: size -> (address, owner)

  // The memory of a tensor, or nothing where that is not known to be here and of this dtype's size.
  std::optional<ConstView> view_of_tensor(nb::handle object) const;

  View view(nb::handle memory) const;
  View view(nb::handle address, nb::handle offset, nb::handle shape, nb::handle strides) const;

 private:
  Device device_;
  ElementType type_;
  nb::handle new_memory_;
  Context context_;
};

// Writes the sum of the gradients, or adds it, while other Python threads may run.
void write_gradients(std::span<const SliceGradient> gradients, const View& to, Write write, const Where& where);

}  // namespace backslice::python
