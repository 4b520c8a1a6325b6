// The operations: arguments in, one call of the library without the GIL, array out.
#include "bindings/slices.h"

#include <nanobind/nanobind.h>

#include "bindings/array_argument.h"
#include "bindings/call_context.h"
#include "bindings/errors.h"
#include "bindings/index.h"
#include "bindings/module.h"
#include "bindings/results.h"
#include "bindings/specs.h"

namespace backslice::python {
namespace {

// Runs one operation on one array: `make(input)` returns a new tensor, `fill(input, out)` fills a given one.
// `result_shape` may be null where it is not known yet.
template <class Make, class Fill>
nb::object run(const InputArray& input, const char* argument, const Shape* result_shape, nb::handle out,
               const Make& make, const Fill& fill) {
  return ResultElements(input, argument)
      .result(
          result_shape, out, [&] { return make(input.view); },
          [&](const View& result) { return fill(input.view, result); });
}

nb::object py_slice(nb::handle x, nb::handle index, nb::handle out) {
  const CallContext context;
  const GivenIndex given(index);
  const InputArray input = ArrayArgument(x, "x").view();
  const Selection selection = given.on(input.view.shape());
  return sliced(selection, input, out, context);
}

nb::object py_slice_grad(nb::handle dy, nb::handle shape, nb::handle index, nb::handle out, nb::handle accumulate) {
  const CallContext context;
  const Write write = read_write(accumulate, out);
  const Selection selection = read_selection(read_shape(shape, "shape"), index);
  return gradient_of_slice(selection, ArrayArgument(dy, "dy").view(), out, write, context);
}

// For outputs that are zero already: writes what is selected alone.
void py_slice_grad_into_zeros(nb::handle dy, nb::handle shape, nb::handle index, nb::handle out) {
  const CallContext context;
  const Selection selection = read_selection(read_shape(shape, "shape"), index);
  gradient_of_slice(selection, ArrayArgument(dy, "dy").view(), out, Write::IntoZeros, context);
}

nb::object py_strided_slice(nb::handle input, nb::handle begin, nb::handle end, nb::handle strides,
                            nb::handle begin_mask, nb::handle end_mask, nb::handle ellipsis_mask,
                            nb::handle new_axis_mask, nb::handle shrink_axis_mask, nb::handle out) {
  const CallContext context;
  IntReader reader{NPY_INT16, NPY_INT32, NPY_INT64};
  const TfSlice spec = read_tf_slice(reader, begin, end, strides,
                                     {begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask});
  return run(
      ArrayArgument(input, "input").view(), "input", nullptr, out,
      [&](const ConstView& view) { return strided_slice(view, spec, context); },
      [&](const ConstView& view, const View& result) { return strided_slice_into(view, spec, result, context); });
}

nb::object py_strided_slice_grad(nb::handle shape, nb::handle begin, nb::handle end, nb::handle strides, nb::handle dy,
                                 nb::handle begin_mask, nb::handle end_mask, nb::handle ellipsis_mask,
                                 nb::handle new_axis_mask, nb::handle shrink_axis_mask, nb::handle out,
                                 nb::handle accumulate) {
  const CallContext context;
  const Write write = read_write(accumulate, out);
  IntReader reader{NPY_INT32, NPY_INT64};
  const auto dims = reader.read(shape, "shape");
  const TfSlice spec = read_tf_slice(reader, begin, end, strides,
                                     {begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask});
  const InputArray gradient = ArrayArgument(dy, "dy").view();
  return gradient_of_slice(unwrap(Selection::from_tf(dims, spec)), gradient, out, write, context);
}

nb::object py_onnx_slice(nb::handle data, nb::handle starts, nb::handle ends, nb::handle axes, nb::handle steps,
                         nb::handle out) {
  const CallContext context;
  const OnnxSlice spec = read_onnx_slice(starts, ends, axes, steps);
  return run(
      ArrayArgument(data, "data").view(), "data", nullptr, out,
      [&](const ConstView& view) { return onnx_slice(view, spec, context); },
      [&](const ConstView& view, const View& result) { return onnx_slice_into(view, spec, result, context); });
}

nb::object py_onnx_slice_grad(nb::handle grad, nb::handle shape, nb::handle starts, nb::handle ends, nb::handle axes,
                              nb::handle steps, nb::handle out, nb::handle accumulate) {
  const CallContext context;
  const Write write = read_write(accumulate, out);
  const auto dims = IntReader{NPY_INT32, NPY_INT64}.read(shape, "shape");
  const Shape result_shape = unwrap(Shape::make(dims));
  const OnnxSlice spec = read_onnx_slice(starts, ends, axes, steps);
  return run(
      ArrayArgument(grad, "grad").view(), "grad", &result_shape, out,
      [&](const ConstView& view) { return onnx_slice_grad(view, dims, spec, context); },
      [&](const ConstView& view, const View& result) {
        return onnx_slice_grad_into(view, dims, spec, result, write, context);
      });
}

}  // namespace

nb::object sliced(const Selection& selection, const InputArray& x, nb::handle out, const Context& context) {
  return run(
      x, "x", &selection.result_shape(), out,
      [&](const ConstView& view) { return backslice::slice(selection, view, context); },
      [&](const ConstView& view, const View& result) { return slice_into(selection, view, result, context); });
}

nb::object gradient_of_slice(const Selection& selection, const InputArray& dy, nb::handle out, Write write,
                             const Context& context) {
  return run(
      dy, "dy", &selection.shape(), out, [&](const ConstView& view) { return slice_grad(selection, view, context); },
      [&](const ConstView& view, const View& result) {
        return slice_grad_into(selection, view, result, write, context);
      });
}

void bind_slices(nb::module_& m) {
  m.def("slice", py_slice);
  m.def("slice_grad", py_slice_grad);
  m.def("_slice_grad_into_zeros", py_slice_grad_into_zeros);
  m.def("strided_slice", py_strided_slice);
  m.def("strided_slice_grad", py_strided_slice_grad);
  m.def("onnx_slice", py_onnx_slice);
  m.def("onnx_slice_grad", py_onnx_slice_grad);
}

}  // namespace backslice::python
