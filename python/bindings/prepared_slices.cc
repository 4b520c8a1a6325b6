// backslice.PreparedSlice.
#include "bindings/prepared_slices.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "backslice/prepared_slice.h"
#include "bindings/array_argument.h"
#include "bindings/call_context.h"
#include "bindings/module.h"
#include "bindings/objects.h"
#include "bindings/protocols.h"
#include "bindings/results.h"
#include "bindings/short_calls.h"
#include "bindings/signatures.h"

namespace backslice::python {
namespace {

// A small PreparedSlice of plain elements, as loops.
class ShortPreparedSlice {
 public:
  ShortPreparedSlice(const PreparedSlice& prepared, nb::handle dtype)
      : descr_(reinterpret_cast<PyArray_Descr*>(dtype.ptr())), dtype_(plain_dtype(descr_)) {
    const std::int64_t size = prepared.x().item_size;
    if (!dtype_ || !index_.set_selection(prepared.selection()) || index_.elements() > SmallMove::kMostBytes / size) {
      return;
    }
    const ShortIndex::List x = index_.strides(size), y = index_.result_strides(size);
    scatter_ = index_.scatter(size, x.data(), y.data());
    gather_ = index_.gather(size, y.data(), x.data());
    is_usable_ = scatter_.is_short() && gather_.is_short();
  }

  PyObject* forward(PyObject* given_x, PyObject* given_out) const {
    PyArrayObject *const x = usable(given_x), *const y = output(given_out, x);
    if (y == nullptr || !index_.is_shape_of(x) || !index_.is_result_shape_of(y)) return nullptr;
    gather_.copy(data_of(y), data_of(x));
    return Py_NewRef(given_out);
  }
  PyObject* gradient(PyObject* given_dy, PyObject* given_out) const {
    PyArrayObject *const dy = usable(given_dy), *const dx = output(given_out, dy);
    if (dx == nullptr || !index_.is_result_shape_of(dy) || !index_.is_shape_of(dx)) return nullptr;
    if (!index_.takes_all()) SmallMove::zero_run(data_of(dx), PyArray_NBYTES(dx));
    scatter_.copy(data_of(dx), data_of(dy));
    return Py_NewRef(given_out);
  }
  PyObject* accumulate(PyObject* given_dy, PyObject* given_out) const {
    PyArrayObject *const dy = usable(given_dy), *const dx = output(given_out, dy);
    if (dx == nullptr || !index_.is_result_shape_of(dy) || !index_.is_shape_of(dx)) return nullptr;
    return scatter_.add(*dtype_, data_of(dx), data_of(dy)) ? Py_NewRef(given_out) : nullptr;
  }

 private:
  PyArrayObject* usable(PyObject* given) const {
    PyArrayObject* const array = is_usable_ && is_environment_checked() ? plain_array(given) : nullptr;
    if (array == nullptr || PyArray_TYPE(array) != descr_->type_num || !PyArray_IS_C_CONTIGUOUS(array)) return nullptr;
    return array;
  }
  PyArrayObject* output(PyObject* given, PyArrayObject* input) const {
    PyArrayObject* const array = input == nullptr ? nullptr : plain_output(given, input);
    return array != nullptr && PyArray_IS_C_CONTIGUOUS(array) ? array : nullptr;
  }

  PyArray_Descr* descr_;  // the owner keeps it alive
  std::optional<DType> dtype_;
  ShortIndex index_;
  SmallMove scatter_{1}, gather_{1};
  bool is_usable_ = false;
};

// A PreparedSlice with its NumPy dtype.
class PyPreparedSlice {
 public:
  PyPreparedSlice(PreparedSlice prepared, nb::object dtype)
      : prepared_(std::move(prepared)), dtype_(std::move(dtype)), short_(prepared_, dtype_) {}

  // The short path of the three methods below.
  PyObject* forward_shortly(PyObject* x, PyObject* out) const { return short_.forward(x, out); }
  PyObject* gradient_shortly(PyObject* dy, PyObject* out) const { return short_.gradient(dy, out); }
  PyObject* accumulate_shortly(PyObject* dy, PyObject* out) const { return short_.accumulate(dy, out); }

  nb::object forward(nb::handle x, nb::handle out) const { return run(&PreparedSlice::forward, x, "x", out); }
  nb::object gradient(nb::handle dy, nb::handle out) const { return run(&PreparedSlice::gradient, dy, "dy", out); }
  nb::object accumulate(nb::handle dy, nb::handle out) const { return run(&PreparedSlice::accumulate, dy, "dy", out); }

  Selection selection() const { return prepared_.selection(); }
  nb::object dtype() const { return dtype_; }
  std::string repr() const {
    return repr_text(nb::cast(prepared_.selection())) + ".prepare(" + repr_text(dtype_) + ")";
  }

 private:
  using Operation = Status (PreparedSlice::*)(const ConstView&, const View&, const Context&) const;

  nb::object run(Operation operation, nb::handle given, const char* argument, nb::handle out) const {
    CallContext context;
    const OutputArgument output(out, &context);
    const InputArray input = ArrayArgument(given, argument, &context).view();
    if (!same_dtype(input.numpy_dtype, dtype_)) {
      raise_dtype_error(std::string(argument) + " has dtype " + str_text(input.numpy_dtype) +
                        ", but the slice was prepared for " + str_text(dtype_));
    }
    const auto fill = [&](const View& view) { return (prepared_.*operation)(input.view, view, context); };
    return ResultElements(input, argument).filled(output, fill, ResultElements::Work::LikeResult);
  }

  PreparedSlice prepared_;
  nb::object dtype_;
  ShortPreparedSlice short_;
};

template <PyObject* (PyPreparedSlice::*run)(PyObject* given, PyObject* out) const>
PyObject* short_run(PyObject* self, PyObject* const* values, Py_ssize_t positional, PyObject* keywords) {
  ShortOptions options;
  if (!options.read(values, positional, keywords, 1, false)) return nullptr;
  return (nb::inst_ptr<PyPreparedSlice>(self)->*run)(values[0], options.out);
}

}  // namespace

nb::object prepare(const Selection& selection, nb::handle dtype) {
  nb::object numpy_dtype = as_numpy_dtype(dtype);
  const ElementType type = element_type(numpy_dtype, "dtype");
  return nb::cast(PyPreparedSlice(unwrap(PreparedSlice::make(selection, type.dtype, type.item_size)), numpy_dtype));
}

void bind_prepared_slices(nb::module_& m) {
  using Prepared = PyPreparedSlice;
  nb::class_<Prepared>(m, "PreparedSlice", class_doc("PreparedSlice"))
      .def("forward", &Prepared::forward)
      .def("gradient", &Prepared::gradient)
      .def("accumulate", &Prepared::accumulate)
      .def_prop_ro("selection", &Prepared::selection)
      .def_prop_ro("dtype", &Prepared::dtype)
      .def("__reduce__", reduced)
      .def("__repr__", &Prepared::repr);
  add_short_call("PreparedSlice", "forward", short_run<&Prepared::forward_shortly>);
  add_short_call("PreparedSlice", "gradient", short_run<&Prepared::gradient_shortly>);
  add_short_call("PreparedSlice", "accumulate", short_run<&Prepared::accumulate_shortly>);
}

}  // namespace backslice::python
