// Integer arguments: lists of indices, shapes and masks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "backslice/shape.h"
#include "bindings/numpy_api.h"
#include "bindings/objects.h"

namespace backslice::python {

namespace nb = nanobind;

// Reads several index-like arguments. If they are arrays, they must share one integer type; lists of int fit any. The
// allowed types are NumPy type numbers; none means all integers.
class IntReader {
 public:
  IntReader() = default;
  IntReader(std::initializer_list<int> allowed) { std::copy(allowed.begin(), allowed.end(), allowed_); }

  // Reads a 1-D list of int64. Raises DTypeError for other elements, InvalidArgumentError for other ranks and values.
  std::vector<std::int64_t> read(nb::handle object, const char* argument);

 private:
  std::vector<std::int64_t> read_array(nb::handle array, const char* argument);
  void note_type(PyArray_Descr* dtype, const char* argument);

  static constexpr int kEnd = NPY_NOTYPE;
  int allowed_[4] = {kEnd, kEnd, kEnd, kEnd};
  int type_ = NPY_NOTYPE;              // of the arrays so far
  const char* first_array_ = nullptr;  // the argument that had it
};

// Reads a shape as NumPy does: an int, or a list of any integer type.
std::vector<std::int64_t> read_shape(nb::handle object, const char* argument);

// The same for the shape of a tensor, for frequent calls: at most kMaxRank extents, in place.
Dims read_dims(nb::handle object, const char* argument);

// Reads a mask: an int that fits int32.
std::int32_t read_mask(nb::handle object, const char* argument);

// Reads a Python int (or NumPy integer, not a bool) as int64; false if it is not an integer at all. An exception of
// __index__ becomes the cause of a DTypeError. Integers past int64 saturate and set `overflow` to -1 or 1.
bool read_int(nb::handle object, const char* argument, std::int64_t& value, int& overflow);

// The same, but raises if it is not an integer: "threads is 'two', expected an int".
std::int64_t require_int(nb::handle object, const char* argument, int& overflow);

// The same for objects that may be something else: also false if __index__ raises an ordinary error.
bool find_int(nb::handle object, std::int64_t& value, int& overflow);

// Reads True or False; anything else is a DTypeError.
bool read_flag(nb::handle object, const char* argument);

}  // namespace backslice::python
