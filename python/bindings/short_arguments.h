// Arguments of the usual kinds, read without a call of Python, an exception or memory: exact arrays of NumPy with plain
// elements, and tuples of exact ints and slices. Everything else is "no": the general path reads it, or says what is
// wrong with it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "backslice/selection.h"
#include "bindings/numpy_api.h"
#include "ops/small_move.h"

namespace backslice::python {

// The element type of an exact array of bool, integers, floats or complex numbers in this machine's byte order.
std::optional<DType> plain_dtype(PyArray_Descr* dtype);

// The array, where it is one of these and has few axes; otherwise null.
PyArrayObject* plain_array(PyObject* object);

// The same of an array that may be written, with elements like another one's.
PyArrayObject* plain_output(PyObject* object, PyArrayObject* like);

inline std::byte* data_of(PyArrayObject* array) { return static_cast<std::byte*>(PyArray_DATA(array)); }

// Whether the memory between the first and the last bytes of two arrays is common.
bool may_overlap(PyArrayObject* a, PyArrayObject* b);
bool may_overlap(PyArrayObject* a, const std::byte* memory, std::int64_t bytes);

// A slice of few axes that selects something.
class ShortIndex {
 public:
  static constexpr int kMostAxes = SmallMove::kMostAxes;
  static constexpr std::int64_t kMostElements = std::int64_t{1} << 56;
  using List = std::array<npy_intp, kMostAxes>;

  // What is sliced: a tuple of positive ints, or an array's shape. False where there are more elements than `most`.
  bool read_shape(PyObject* shape, std::int64_t most);
  bool set_shape(const npy_intp* extents, int rank);

  // The same of a Selection, and its index. False where it has new axes.
  bool set_selection(const Selection& selection);

  // An int, a slice, ... or a tuple of these.
  bool read_index(PyObject* index);

  // TensorFlow's begin, end and strides, without masks: tuples of ints, as many for each.
  bool read_bounds(PyObject* begin, PyObject* end, PyObject* strides);

  bool is_shape_of(PyArrayObject* array) const;
  bool is_result_shape_of(PyArrayObject* array) const;
  bool takes_all() const;
  std::int64_t elements() const { return elements_; }
  bool selects_at_most(std::int64_t most) const;

  int rank() const { return rank_; }
  int result_rank() const { return result_rank_; }
  List shape() const;
  List result_shape() const;

  // Strides of the shape and of the result where they are contiguous.
  List strides(npy_intp item_size) const;
  List result_strides(npy_intp item_size) const;

  // The selected elements of a tensor with the first strides, and those of a result with the second.
  SmallMove scatter(npy_intp item_size, const npy_intp* dst, const npy_intp* src) const;
  SmallMove gather(npy_intp item_size, const npy_intp* dst, const npy_intp* src) const;

  // Precondition: the shape is the one that was set.
  Selection selection(const Shape& shape) const;

  // What it takes, with ascending steps.
  Selection::Axes region() const;

 private:
  struct Axis {
    std::int64_t extent, start, step, count;
    bool is_dropped;
  };

  bool read_item(PyObject* item);
  bool take_range(Axis& axis, Py_ssize_t start, Py_ssize_t stop);
  void take_rest(int until);
  std::span<const Axis> axes() const { return {axes_.data(), static_cast<std::size_t>(rank_)}; }

  int rank_ = 0, result_rank_ = 0;
  int read_ = 0;  // axes that the index was read for
  std::int64_t elements_ = 1;
  std::array<Axis, kMostAxes> axes_;
};

// All elements of a tensor, for SmallMove::zero.
SmallMove all_elements(PyArrayObject* array);

}  // namespace backslice::python
