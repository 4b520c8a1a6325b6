// backslice.PreparedSlice.
#include "bindings/prepared_slices.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "backslice/prepared_slice.h"
#include "bindings/array_argument.h"
#include "bindings/call_context.h"
#include "bindings/module.h"
#include "bindings/objects.h"
#include "bindings/protocols.h"
#include "bindings/results.h"
#include "bindings/signatures.h"

namespace backslice::python {
namespace {

// A PreparedSlice with its NumPy dtype.
class PyPreparedSlice {
 public:
  PyPreparedSlice(PreparedSlice prepared, nb::object dtype)
      : prepared_(std::move(prepared)), dtype_(std::move(dtype)) {}

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
};

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
}

}  // namespace backslice::python
