// multi_slice_grad and multi_slice_write.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "backslice/multi_slice.h"
#include "bindings/arguments.h"
#include "bindings/array_argument.h"
#include "bindings/call_context.h"
#include "bindings/errors.h"
#include "bindings/gradient_argument.h"
#include "bindings/index.h"
#include "bindings/known_tensors.h"
#include "bindings/module.h"
#include "bindings/object_arrays.h"
#include "bindings/results.h"
#include "bindings/short_arguments.h"
#include "core/errors.h"

namespace backslice::python {
namespace {

std::string nth(std::size_t i) { return "slices[" + std::to_string(i) + "]"; }

// The same of its dy, for every slice: it fits a string without memory.
std::string nth_dy(std::size_t i) {
  std::array<char, 40> text;
  char* end = std::copy_n("slices[", 7, text.data());
  end = std::to_chars(end, end + 20, i).ptr;
  end = std::copy_n("].dy", 4, end);
  return {text.data(), end};
}

// The list [(index, dy), ...]: read first, viewed later.
class SliceList {
 public:
  explicit SliceList(std::size_t size) {
    slices.reserve(size);
    owners_.reserve(size);
  }

  // Reads the dy of the last slice.
  void read(nb::handle dy, const GivenDType& dtype, CallContext& call) {
    const std::size_t last = slices.size() - 1;
    std::string name = nth_dy(last);
    if (similar_.view(dy, name.c_str(), slices.back().dy)) return owners_.push_back(nb::borrow(dy));
    arrays.push_back(read_gradient(dy, dtype, std::move(name), &call));
    read_as_.push_back(last);
    if (last == 0) similar_ = SimilarTensors(dy, arrays[0].view());
  }

  // Takes the views, broadcast to the slices' shapes. Runs no Python code but between two attempts.
  void view_all() {
    while (!try_to_view_all()) handle_ctrl_c();
  }

  std::vector<SliceGradient> slices;
  std::vector<ArrayArgument> arrays;  // keep the memory of the views alive; the first is that of the first slice

 private:
  bool try_to_view_all() {
    LongSilentLoop loop;
    guards_.resize(arrays.size());
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (loop.is_interrupted()) return false;
      const InputArray array = arrays[i].view();
      slices[read_as_[i]].dy = array.view;
      guards_[i] = keep_from_resizing(array);
    }
    for (std::size_t i = 0; i < slices.size(); ++i) {
      if (loop.is_interrupted()) return false;
      auto& [selection, dy] = slices[i];
      if (dy.shape() != selection.result_shape()) broadcast_to(selection.result_shape(), dy, nth_dy(i));
    }
    return true;
  }

  std::vector<std::size_t> read_as_;  // which slice each array is of
  std::vector<nb::object> guards_;    // keep the memory where it is
  std::vector<nb::object> owners_;    // of memory that was viewed at once
  SimilarTensors similar_;
};

void check_same_dtypes(const std::vector<ArrayArgument>& arrays) {
  for (const ArrayArgument& array : arrays) {
    if (same_dtype(array.numpy_dtype(), arrays[0].numpy_dtype())) continue;
    raise_dtype_error(array.name() + " has dtype " + str_text(array.numpy_dtype()) + ", but slices[0].dy has " +
                      str_text(arrays[0].numpy_dtype()));
  }
}

// Reads indices of one shape, the usual ones without a call of Python.
class IndexReader {
 public:
  explicit IndexReader(const std::vector<std::int64_t>& shape) : dims_(shape) {
    ShortIndex tried;
    if (dims_.size() > ShortIndex::kMostAxes || !set_shape(tried)) return;
    if (auto made = Shape::make(dims_); made.ok()) shape_ = *made;
  }

  Selection read(PyObject* index) const {
    ShortIndex read;
    return shape_ && set_shape(read) && read.read_index(index) ? read.selection(*shape_) : read_selection(dims_, index);
  }

 private:
  bool set_shape(ShortIndex& index) const { return index.set_shape(dims_.data(), static_cast<int>(dims_.size())); }

  const std::vector<std::int64_t>& dims_;
  std::optional<Shape> shape_;  // none where there are too many axes
};

void read_pair(const IndexReader& indices, nb::handle item, const GivenDType& dtype, CallContext& call,
               SliceList& list) {
  if (!PyTuple_Check(item.ptr()) && !PyList_Check(item.ptr())) {
    raise_dtype_error(nth(list.slices.size()) + " is " + repr_text(item) + ", expected a pair (index, dy)");
  }
  const nb::object pair = PyTuple_CheckExact(item.ptr()) ? nb::borrow(item) : items_of(item);
  if (const Py_ssize_t size = PyTuple_GET_SIZE(pair.ptr()); size != 2) {
    raise_invalid_argument(nth(list.slices.size()) + " has " + std::to_string(size) +
                           " items, expected a pair (index, dy)");
  }
  list.slices.push_back({indices.read(PyTuple_GET_ITEM(pair.ptr(), 0)), {}});
  list.read(PyTuple_GET_ITEM(pair.ptr(), 1), dtype, call);
}

SliceList read_slices(const std::vector<std::int64_t>& shape, nb::handle given, const GivenDType& dtype,
                      CallContext& call) {
  if (PyUnicode_Check(given.ptr()) || !has_attribute(given, "__iter__")) {
    raise_dtype_error("slices is " + repr_text(given) + ", expected a list of pairs (index, dy), or another iterable");
  }
  const nb::object items = items_of(given);
  SliceList list(static_cast<std::size_t>(PyTuple_GET_SIZE(items.ptr())));
  const IndexReader indices(shape);
  LongLoop loop;
  for (nb::handle item : nb::borrow<nb::tuple>(items)) {
    loop.step();
    read_pair(indices, item, dtype, call, list);
  }
  check_same_dtypes(list.arrays);
  list.view_all();
  return list;
}

// The common zero of arrays of objects.
nb::object empty_string_of_all(const SliceList& list) {
  nb::object zero;
  for (std::size_t i = 0; i < list.arrays.size(); ++i) {
    const std::string& argument = list.arrays[i].name();
    const InputArray array = list.arrays[i].view();
    if (array.view.elements() == 0) continue;
    nb::object own = empty_string_of(array, argument.c_str());
    if (zero.is_valid() && !own.type().is(zero.type())) {
      raise_dtype_error(argument + " mixes str and bytes with the slices before it; use one of them");
    }
    zero = std::move(own);
  }
  return zero.is_valid() ? zero : nb::object(nb::str(""));
}

// An array of no elements, for the dtype of a sum of nothing.
ArrayArgument nothing_of(const GivenDType& dtype) {
  if (!dtype.known().is_valid()) {
    raise_invalid_argument("slices is empty, and nothing determines the dtype; pass dtype= or out=");
  }
  npy_intp none = 0;
  auto* descr = reinterpret_cast<PyArray_Descr*>(nb::object(dtype.known()).release().ptr());
  return {checked([&] { return PyArray_SimpleNewFromDescr(1, &none, descr); }), "dtype"};
}

Result<Tensor> zeros(Ints dims, const ElementType& type) {
  const auto shape = Shape::make(dims);
  if (!shape.ok()) return shape.status();
  if (!has_zero(type.dtype) && shape->elements() > 0) {
    return dtype_error(name(type.dtype), " has no zero, and there are no slices");
  }
  return Tensor::make(type.dtype, *shape, type.item_size, Contents::Zero);
}

// Reads the arguments that the two functions share, and calls one of `make` and `fill` with the shape and the slices.
template <class Make, class Fill>
nb::object from_many_slices(nb::handle shape, nb::handle slices, nb::handle out, nb::handle dtype, CallContext& context,
                            const Make& make, const Fill& fill) {
  const auto dims = read_shape(shape, "shape");
  const OutputArgument output(out, &context);
  const GivenDType given_dtype(dtype, output);
  const SliceList given = read_slices(dims, slices, given_dtype, context);
  const InputArray first = (given.arrays.empty() ? nothing_of(given_dtype) : given.arrays[0]).view();
  const char* owner = given.arrays.empty() ? "dtype" : "slices[0].dy";
  const Shape result_shape = unwrap(Shape::make(dims));
  const nb::object zero = first.type.is_object ? empty_string_of_all(given) : nb::object();
  return ResultElements(first, owner, zero)
      .result(
          &result_shape, ResultElements::Work::Any, output,
          [&] { return given.slices.empty() ? zeros(dims, first.type) : make(dims, given.slices); },
          [&](const View& view) { return fill(dims, given.slices, view); });
}

nb::object py_multi_slice_grad(nb::handle shape, nb::handle slices, nb::handle out, nb::handle accumulate,
                               nb::handle dtype) {
  CallContext context;
  const Write write = read_write(accumulate, out);
  return from_many_slices(
      shape, slices, out, dtype, context,
      [&](Ints dims, const auto& given) { return multi_slice_grad(dims, given, context); },
      [&](Ints dims, const auto& given, const View& view) {
        return multi_slice_grad_into(dims, given, view, write, context);
      });
}

nb::object py_multi_slice_write(nb::handle shape, nb::handle slices, nb::handle out, nb::handle dtype) {
  CallContext context;
  return from_many_slices(
      shape, slices, out, dtype, context,
      [&](Ints dims, const auto& given) { return multi_slice_write(dims, given, context); },
      [&](Ints dims, const auto& given, const View& view) {
        return multi_slice_write_into(dims, given, view, context);
      });
}

}  // namespace

void bind_multi_slices(nb::module_& m) {
  m.def("multi_slice_grad", py_multi_slice_grad);
  m.def("multi_slice_write", py_multi_slice_write);
}

}  // namespace backslice::python
