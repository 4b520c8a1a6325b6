#include "bindings/short_calls.h"

#include <array>

#include "ops/call.h"

namespace backslice::python {
namespace {

struct Entry {
  std::string_view scope, name;
  ShortCall call;
};
std::array<Entry, 16> entries;
std::size_t entry_count = 0;

PyObject *out_name, *accumulate_name;  // interned, like the names in calls

PyObject* new_gradient(const ShortIndex& index, PyArrayObject* dy) {
  const npy_intp size = PyArray_ITEMSIZE(dy);
  const SmallMove move = index.scatter(size, index.strides(size).data(), PyArray_STRIDES(dy));
  if (!move.is_short()) return nullptr;
  PyArrayObject* dx = new_array_like(dy, index.shape(), index.rank());
  if (dx == nullptr) return nullptr;
  if (!index.takes_all()) SmallMove::zero_run(data_of(dx), index.elements() * size);
  move.copy(data_of(dx), data_of(dy));
  return reinterpret_cast<PyObject*>(dx);
}

PyObject* gradient_into(const ShortIndex& index, PyArrayObject* dy, PyArrayObject* out, bool accumulates) {
  const SmallMove move = index.scatter(PyArray_ITEMSIZE(dy), PyArray_STRIDES(out), PyArray_STRIDES(dy));
  SmallMove all = all_elements(out);
  if (!move.is_short() || !all.is_surely_distinct()) return nullptr;
  if (accumulates) {
    if (!move.add(*plain_dtype(PyArray_DESCR(dy)), data_of(out), data_of(dy))) return nullptr;
  } else {
    all.finish();
    if (!all.is_short()) return nullptr;
    if (!index.takes_all()) all.zero(data_of(out));
    move.copy(data_of(out), data_of(dy));
  }
  return Py_NewRef(reinterpret_cast<PyObject*>(out));
}

// Computes a gradient. `read` reads the index of a slice of that shape.
template <class Read>
PyObject* short_gradient(PyObject* given_dy, PyObject* shape, const ShortOptions& options, const Read& read) {
  PyArrayObject* const dy = plain_array(given_dy);
  if (dy == nullptr || !is_environment_checked()) return nullptr;
  ShortIndex index;
  const npy_intp size = PyArray_ITEMSIZE(dy);
  // A sum writes only selected elements, so the tensor may have any size.
  const std::int64_t most_elements = options.accumulates ? ShortIndex::kMostElements : kTuning.small_zeros / size;
  if (!index.read_shape(shape, most_elements) || !read(index)) return nullptr;
  const std::int64_t most =
      options.accumulates ? SmallMove::kMostBytes : SmallMove::most_selected(index.elements() * size);
  if (!index.is_result_shape_of(dy) || !index.selects_at_most(most / size)) return nullptr;
  if (options.out == Py_None) return options.accumulates ? nullptr : new_gradient(index, dy);
  PyArrayObject* const out = plain_output(options.out, dy);
  if (out == nullptr || !index.is_shape_of(out)) return nullptr;
  return gradient_into(index, dy, out, options.accumulates);
}

// slice_grad(dy, shape, index, out=None, accumulate=False)
PyObject* short_slice_grad(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* keywords) {
  ShortOptions options;
  if (!options.read(values, positional, keywords, 3, true)) return nullptr;
  return short_gradient(values[0], values[1], options, [&](ShortIndex& index) { return index.read_index(values[2]); });
}

// strided_slice_grad(shape, begin, end, strides, dy, ..., *, out=None, accumulate=False), without masks
PyObject* short_strided_slice_grad(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* keywords) {
  ShortOptions options;
  if (positional != 5 || !options.read(values, positional, keywords, 5, true)) return nullptr;
  return short_gradient(values[4], values[0], options,
                        [&](ShortIndex& index) { return index.read_bounds(values[1], values[2], values[3]); });
}

PyObject* slice_into(const ShortIndex& index, PyArrayObject* x, PyArrayObject* y) {
  const SmallMove move = index.gather(PyArray_ITEMSIZE(x), PyArray_STRIDES(y), PyArray_STRIDES(x));
  if (!move.is_short() || !all_elements(y).is_surely_distinct()) return nullptr;
  move.copy(data_of(y), data_of(x));
  return Py_NewRef(reinterpret_cast<PyObject*>(y));
}

PyObject* new_slice(const ShortIndex& index, PyArrayObject* x) {
  const npy_intp size = PyArray_ITEMSIZE(x);
  const SmallMove move = index.gather(size, index.result_strides(size).data(), PyArray_STRIDES(x));
  if (!move.is_short()) return nullptr;
  PyArrayObject* const y = new_array_like(x, index.result_shape(), index.result_rank());
  if (y == nullptr) return nullptr;
  move.copy(data_of(y), data_of(x));
  return reinterpret_cast<PyObject*>(y);
}

// slice(x, index, out=None)
PyObject* short_slice(PyObject*, PyObject* const* values, Py_ssize_t positional, PyObject* keywords) {
  ShortOptions options;
  if (!options.read(values, positional, keywords, 2, false) || !is_environment_checked()) return nullptr;
  PyArrayObject* const x = plain_array(values[0]);
  ShortIndex index;
  if (x == nullptr || !index.set_shape(PyArray_DIMS(x), PyArray_NDIM(x)) || !index.read_index(values[1]) ||
      !index.selects_at_most(SmallMove::kMostBytes / PyArray_ITEMSIZE(x))) {
    return nullptr;
  }
  if (options.out == Py_None) return new_slice(index, x);
  PyArrayObject* const y = plain_output(options.out, x);
  return y != nullptr && index.is_result_shape_of(y) ? slice_into(index, x, y) : nullptr;
}

}  // namespace

void add_short_call(std::string_view scope, std::string_view name, ShortCall call) {
  entries.at(entry_count++) = {scope, name, call};
}

ShortCall find_short_call(std::string_view scope, std::string_view name) {
  for (const Entry& entry : entries) {
    if (entry.call != nullptr && entry.scope == scope && entry.name == name) return entry.call;
  }
  return nullptr;
}

bool ShortOptions::read(PyObject* const* values, Py_ssize_t positional, PyObject* keywords, Py_ssize_t first,
                        bool takes_accumulate) {
  if (positional < first || positional > first + (takes_accumulate ? 2 : 1)) return false;
  PyObject* accumulate = Py_False;
  if (positional > first) out = values[first];
  if (positional > first + 1) accumulate = values[first + 1];
  const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* const name = PyTuple_GET_ITEM(keywords, i);
    if (name == out_name && positional == first) {
      out = values[positional + i];
    } else if (name == accumulate_name && takes_accumulate && positional <= first + 1) {
      accumulate = values[positional + i];
    } else {
      return false;
    }
  }
  accumulates = accumulate == Py_True;
  return accumulates || accumulate == Py_False;
}

bool is_environment_checked() { return ready_rows() != nullptr; }

PyArrayObject* new_array_like(PyArrayObject* like, const ShortIndex::List& shape, int rank) {
  PyArray_Descr* const dtype = PyArray_DESCR(like);
  Py_INCREF(dtype);
  PyObject* made = PyArray_NewFromDescr(&PyArray_Type, dtype, rank, shape.data(), nullptr, nullptr, 0, nullptr);
  if (made == nullptr) PyErr_Clear();
  return reinterpret_cast<PyArrayObject*>(made);
}

void bind_short_calls() {
  out_name = PyUnicode_InternFromString("out");
  accumulate_name = PyUnicode_InternFromString("accumulate");
  if (out_name == nullptr || accumulate_name == nullptr) nanobind::raise_python_error();
  add_short_call("", "slice", short_slice);
  add_short_call("", "slice_grad", short_slice_grad);
  add_short_call("", "strided_slice_grad", short_strided_slice_grad);
}

}  // namespace backslice::python
