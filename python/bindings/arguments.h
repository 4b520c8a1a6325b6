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

// Reads several index-like arguments that must share one integer type, where they are arrays and have one; lists of
// int fit any. The allowed types are NumPy type numbers, none meaning all integers.
class IntReader {
 public:
  IntReader() = default;
  IntReader(std::initializer_list<int> allowed) { std::copy(allowed.begin(), allowed.end(), allowed_); }

  // A 1-D list of int64. Raises DTypeError for other elements, InvalidArgumentError for other ranks and values.
  std::vector<std::int64_t> read(nb::handle object, const char* argument);

 private:
  std::vector<std::int64_t> read_array(nb::handle array, const char* argument);
  void note_type(PyArray_Descr* dtype, const char* argument);

  static constexpr int kEnd = NPY_NOTYPE;
  int allowed_[4] = {kEnd, kEnd, kEnd, kEnd};
  int type_ = NPY_NOTYPE;              // of the arrays so far
  const char* first_array_ = nullptr;  // the argument that had it
};

// A shape as NumPy takes it: an int, or a list of any integer type.
std::vector<std::int64_t> read_shape(nb::handle object, const char* argument);

// The same where it is known to be one of a tensor, and read often: at most kMaxRank extents, in place.
Dims read_dims(nb::handle object, const char* argument);

// A mask: an int that fits int32.
std::int32_t read_mask(nb::handle object, const char* argument);

// A Python int (or NumPy integer, not a bool) as int64; false when it is no integer at all. What __index__ raises
// becomes the cause of a DTypeError. Integers past int64 saturate and set `overflow` to -1 or 1.
bool read_int(nb::handle object, const char* argument, std::int64_t& value, int& overflow);

// The same where nothing else will do: "threads is 'two', expected an int".
std::int64_t require_int(nb::handle object, const char* argument, int& overflow);

// The same for objects that may be something else: false when __index__ raises an ordinary error, too.
bool find_int(nb::handle object, std::int64_t& value, int& overflow);

// True or False; anything else is a DTypeError.
bool read_flag(nb::handle object, const char* argument);

}  // namespace backslice::python
