#include "bindings/short_arguments.h"

#include <algorithm>
#include <utility>

#include "bindings/errors.h"

namespace backslice::python {
namespace {

// By NumPy's number; Bytes where an element is none of these. long and long long are two numbers for one type.
constexpr std::array<DType, NPY_HALF + 1> kPlain = [] {
  std::array<DType, NPY_HALF + 1> types;
  types.fill(DType::Bytes);
  types[NPY_BOOL] = DType::Bool;
  types[NPY_BYTE] = DType::Int8;
  types[NPY_UBYTE] = DType::UInt8;
  types[NPY_SHORT] = DType::Int16;
  types[NPY_USHORT] = DType::UInt16;
  types[NPY_INT] = DType::Int32;
  types[NPY_UINT] = DType::UInt32;
  types[NPY_LONG] = sizeof(npy_long) == 8 ? DType::Int64 : DType::Int32;
  types[NPY_ULONG] = sizeof(npy_ulong) == 8 ? DType::UInt64 : DType::UInt32;
  types[NPY_LONGLONG] = DType::Int64;
  types[NPY_ULONGLONG] = DType::UInt64;
  types[NPY_HALF] = DType::Float16;
  types[NPY_FLOAT] = DType::Float32;
  types[NPY_DOUBLE] = DType::Float64;
  types[NPY_CFLOAT] = DType::Complex64;
  types[NPY_CDOUBLE] = DType::Complex128;
  return types;
}();

// A value that no sum with an extent overflows.
bool read_short_int(PyObject* object, std::int64_t& value) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  if (!PyLong_CheckExact(object)) return false;
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0 && -kMost < value && value < kMost;
}

bool read_short_bound(PyObject* bound, std::int64_t& value) { return bound == Py_None || read_short_int(bound, value); }

ShortIndex::List contiguous(const ShortIndex::List& shape, int rank, npy_intp item_size) {
  ShortIndex::List strides{};
  for (int i = rank - 1; i >= 0; --i) {
    strides[static_cast<std::size_t>(i)] = item_size;
    item_size *= shape[static_cast<std::size_t>(i)];
  }
  return strides;
}

bool same_list(const ShortIndex::List& list, int rank, PyArrayObject* array) {
  return PyArray_NDIM(array) == rank && std::equal(list.begin(), list.begin() + rank, PyArray_DIMS(array));
}

std::pair<const std::byte*, const std::byte*> memory_of(PyArrayObject* array) {
  const std::byte *first = data_of(array), *last = first + PyArray_ITEMSIZE(array);
  for (int i = 0; i < PyArray_NDIM(array); ++i) {
    const npy_intp reach = (PyArray_DIM(array, i) - 1) * PyArray_STRIDE(array, i);
    (reach < 0 ? first : last) += reach;
  }
  return {first, last};
}

}  // namespace

std::optional<DType> plain_dtype(PyArray_Descr* dtype) {
  if (dtype->type_num < 0 || dtype->type_num > NPY_HALF || !PyArray_ISNBO(dtype->byteorder)) return std::nullopt;
  const DType found = kPlain[static_cast<std::size_t>(dtype->type_num)];
  return found == DType::Bytes ? std::nullopt : std::optional(found);
}

PyArrayObject* plain_array(PyObject* object) {
  if (!PyArray_CheckExact(object)) return nullptr;
  auto* array = reinterpret_cast<PyArrayObject*>(object);
  return PyArray_NDIM(array) <= ShortIndex::kMostAxes && plain_dtype(PyArray_DESCR(array)) ? array : nullptr;
}

PyArrayObject* plain_output(PyObject* object, PyArrayObject* like) {
  PyArrayObject* array = plain_array(object);
  if (array == nullptr || PyArray_TYPE(array) != PyArray_TYPE(like) || !PyArray_ISWRITEABLE(array)) return nullptr;
  return may_overlap(array, like) ? nullptr : array;
}

bool may_overlap(PyArrayObject* a, PyArrayObject* b) {
  const auto [first, last] = memory_of(a);
  const auto [other_first, other_last] = memory_of(b);
  return first < other_last && other_first < last;
}

bool may_overlap(PyArrayObject* a, const std::byte* memory, std::int64_t bytes) {
  const auto [first, last] = memory_of(a);
  return first < memory + bytes && memory < last;
}

bool ShortIndex::read_shape(PyObject* shape, std::int64_t most) {
  if (!PyTuple_CheckExact(shape) || PyTuple_GET_SIZE(shape) > kMostAxes) return false;
  rank_ = static_cast<int>(PyTuple_GET_SIZE(shape));
  for (int i = 0; i < rank_; ++i) {
    std::int64_t& extent = axes_[static_cast<std::size_t>(i)].extent;
    if (!read_short_int(PyTuple_GET_ITEM(shape, i), extent) || extent < 1 || extent > most / elements_) return false;
    elements_ *= extent;
  }
  return true;
}

bool ShortIndex::set_shape(const npy_intp* extents, int rank) {
  rank_ = rank;
  for (int i = 0; i < rank; ++i) {
    axes_[static_cast<std::size_t>(i)].extent = extents[i];
    if (extents[i] < 1 || __builtin_mul_overflow(elements_, extents[i], &elements_)) return false;
  }
  return true;
}

bool ShortIndex::set_selection(const Selection& selection) {
  const Shape& shape = selection.shape();
  if (shape.rank() > kMostAxes || !set_shape(shape.begin(), shape.rank())) return false;
  for (const std::int64_t axis : selection.result_axes()) {
    if (axis == Selection::kNewAxis) return false;
  }
  for (read_ = 0; read_ < rank_; ++read_) {
    const Selection::Axis& axis = selection.axis(read_);
    if (axis.count < 1) return false;
    const bool is_dropped = selection.is_dropped(read_);
    axes_[static_cast<std::size_t>(read_)] = {shape[read_], axis.start, axis.step, axis.count, is_dropped};
    result_rank_ += is_dropped ? 0 : 1;
  }
  return true;
}

bool ShortIndex::read_index(PyObject* index) {
  if (!PyTuple_CheckExact(index)) {
    if (index == Py_Ellipsis || !read_item(index)) return false;
    take_rest(rank_);
    return true;
  }
  const Py_ssize_t items = PyTuple_GET_SIZE(index);
  bool seen_ellipsis = false;
  for (Py_ssize_t i = 0; i < items; ++i) {
    PyObject* item = PyTuple_GET_ITEM(index, i);
    if (item != Py_Ellipsis) {
      if (!read_item(item)) return false;
    } else {
      const auto left = rank_ - static_cast<int>(items - i - 1);
      if (std::exchange(seen_ellipsis, true) || left < read_) return false;
      take_rest(left);
    }
  }
  take_rest(rank_);
  return true;
}

// NumPy's rules.
bool ShortIndex::read_item(PyObject* item) {
  if (read_ == rank_) return false;
  Axis& axis = axes_[static_cast<std::size_t>(read_++)];
  if (PySlice_Check(item)) {
    const auto* slice = reinterpret_cast<PySliceObject*>(item);
    axis.step = 1;
    if (!read_short_bound(slice->step, axis.step) || axis.step == 0) return false;
    Py_ssize_t start = axis.step > 0 ? 0 : axis.extent - 1, stop = axis.step > 0 ? axis.extent : -axis.extent - 1;
    if (!read_short_bound(slice->start, start) || !read_short_bound(slice->stop, stop)) return false;
    return take_range(axis, start, stop);
  }
  if (!read_short_int(item, axis.start)) return false;
  if (axis.start < 0) axis.start += axis.extent;
  axis.step = axis.count = 1;
  axis.is_dropped = true;
  return 0 <= axis.start && axis.start < axis.extent;
}

bool ShortIndex::read_bounds(PyObject* begin, PyObject* end, PyObject* strides) {
  if (!PyTuple_CheckExact(begin) || !PyTuple_CheckExact(end) || !PyTuple_CheckExact(strides)) return false;
  const Py_ssize_t count = PyTuple_GET_SIZE(begin);
  if (count > rank_ || PyTuple_GET_SIZE(end) != count || PyTuple_GET_SIZE(strides) != count) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    Axis& axis = axes_[static_cast<std::size_t>(read_++)];
    std::int64_t start = 0, stop = 0;
    if (!read_short_int(PyTuple_GET_ITEM(begin, i), start) || !read_short_int(PyTuple_GET_ITEM(end, i), stop) ||
        !read_short_int(PyTuple_GET_ITEM(strides, i), axis.step) || axis.step == 0 || !take_range(axis, start, stop)) {
      return false;
    }
  }
  take_rest(rank_);
  return true;
}

// The step is known. False where nothing is taken.
bool ShortIndex::take_range(Axis& axis, Py_ssize_t start, Py_ssize_t stop) {
  axis.count = PySlice_AdjustIndices(axis.extent, &start, &stop, axis.step);
  if (axis.count == 1) axis.step = 1;  // products with a huge step may overflow
  axis.start = start;
  axis.is_dropped = false;
  ++result_rank_;
  return axis.count > 0;
}

void ShortIndex::take_rest(int until) {
  for (; read_ < until; ++read_, ++result_rank_) {
    Axis& axis = axes_[static_cast<std::size_t>(read_)];
    axis = {axis.extent, 0, 1, axis.extent, false};
  }
}

ShortIndex::List ShortIndex::shape() const {
  List list{};
  for (std::size_t i = 0; i < axes().size(); ++i) list[i] = axes_[i].extent;
  return list;
}

ShortIndex::List ShortIndex::result_shape() const {
  List list{};
  std::size_t result = 0;
  for (const Axis& axis : axes()) {
    if (!axis.is_dropped) list[result++] = axis.count;
  }
  return list;
}

bool ShortIndex::is_shape_of(PyArrayObject* array) const { return same_list(shape(), rank_, array); }
bool ShortIndex::is_result_shape_of(PyArrayObject* array) const {
  return same_list(result_shape(), result_rank_, array);
}

bool ShortIndex::takes_all() const {
  return std::all_of(axes().begin(), axes().end(), [](const Axis& axis) { return axis.count == axis.extent; });
}

bool ShortIndex::selects_at_most(std::int64_t most) const {
  for (const Axis& axis : axes()) {
    if (axis.count > most) return false;
    most /= axis.count;
  }
  return true;
}

ShortIndex::List ShortIndex::strides(npy_intp item_size) const { return contiguous(shape(), rank_, item_size); }
ShortIndex::List ShortIndex::result_strides(npy_intp item_size) const {
  return contiguous(result_shape(), result_rank_, item_size);
}

SmallMove ShortIndex::scatter(npy_intp item_size, const npy_intp* dst, const npy_intp* src) const {
  SmallMove move(item_size);
  for (const Axis& axis : axes()) {
    move.skip(axis.start * *dst, 0);
    if (!axis.is_dropped) move.add_axis(axis.count, *dst * axis.step, *src++);
    ++dst;
  }
  move.finish();
  return move;
}

SmallMove ShortIndex::gather(npy_intp item_size, const npy_intp* dst, const npy_intp* src) const {
  SmallMove move(item_size);
  for (const Axis& axis : axes()) {
    move.skip(0, axis.start * *src);
    if (!axis.is_dropped) move.add_axis(axis.count, *dst++, *src * axis.step);
    ++src;
  }
  move.finish();
  return move;
}

Selection ShortIndex::selection(const Shape& shape) const {
  std::array<Selection::Axis, kMostAxes> all;
  Dims result_axes;
  for (int i = 0; i < rank_; ++i) {
    const Axis& axis = axes_[static_cast<std::size_t>(i)];
    all[static_cast<std::size_t>(i)] = {axis.start, axis.step, axis.count};
    if (!axis.is_dropped) result_axes.push_back(i);
  }
  return unwrap(Selection::make(shape, std::span(all.data(), axes().size()), result_axes));
}

Selection::Axes ShortIndex::region() const {
  Selection::Axes region;
  for (const Axis& axis : axes()) {
    const std::int64_t last = axis.start + (axis.count - 1) * axis.step;
    region.push_back({std::min(axis.start, last), std::abs(axis.step), axis.count});
  }
  return region;
}

SmallMove all_elements(PyArrayObject* array) {
  SmallMove move(PyArray_ITEMSIZE(array));
  for (int i = 0; i < PyArray_NDIM(array); ++i) {
    move.add_axis(PyArray_DIM(array, i), PyArray_STRIDE(array, i), PyArray_STRIDE(array, i));
  }
  return move;
}

}  // namespace backslice::python
