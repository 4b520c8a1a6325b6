/// @file
/// TensorArrayOptions are the properties of a TensorArray, TensorArrayContents its elements as a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backslice/partial_shape.h"
#include "backslice/tensor.h"

namespace backslice {

/// The properties of an array, except its size and dtype.
struct TensorArrayOptions {
  PartialShape element_shape = {};            ///< Of every element; enforced where it is known.
  bool dynamic_size = false;                  ///< Writing past the end makes the array longer.
  bool clear_after_read = true;               ///< Reading an element releases it.
  bool identical_element_shapes = false;      ///< The first write fixes element_shape.
  bool contiguous = false;                    ///< One block, made at once: writes copy into it, stack() is free.
  std::string name = {};                      ///< For messages.
  std::int64_t item_size = kItemSizeOfDType;  ///< Needed for DType::Bytes only.
  Device device = {};                         ///< Of all elements, and of the zeros in place of missing ones.
  bool any_device = false;                    ///< The first element that is written decides the device instead.
};

/// All that an array holds, as a value: to save it, or to make another array of it. Its gradients are not part of it.
struct TensorArrayContents {
  std::int64_t size = 0;
  DType dtype = DType::Float32;
  TensorArrayOptions options = {};  ///< Its element_shape is what is known by now.
  bool is_gradient = false;
  bool all_read = false;  ///< A contiguous array was, by stack().

  struct Element {
    std::int64_t index = 0;
    Shape shape = {};
    std::optional<Tensor> value = {};  ///< The sum of what was written; nothing for zeros of that shape or if cleared.
    bool written = false, read = false, cleared = false;
  };
  std::vector<Element> elements = {};  ///< Those that were written or read, in any order.
};

}  // namespace backslice
