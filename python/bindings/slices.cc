// The operations: arguments in, one call of the library without the GIL, array out.
#include "bindings/slices.h"

#include <nanobind/nanobind.h>

#include "bindings/array_argument.h"
#include "bindings/call_context.h"
#include "bindings/errors.h"
#include "bindings/gradient_argument.h"
#include "bindings/index.h"
#include "bindings/module.h"
#include "bindings/results.h"
#include "bindings/specs.h"

namespace backslice::python {
namespace {

// Runs one operation on one array: `make(input)` returns a new tensor, `fill(input, out)` fills a given one.
template <class Make, class Fill>
nb::object run(const InputArray& input, const char* argument, const Shape& result_shape, const OutputArgument& out,
               const Make& make, const Fill& fill) {
  return ResultElements(input, argument)
      .result(
          &result_shape, ResultElements::Work::LikeResult, out, [&] { return make(input.view); },
          [&](const View& result) { return fill(input.view, result); });
}

nb::object py_slice(nb::handle x, nb::handle index, nb::handle out) {
  CallContext context;
  const GivenIndex given(index);
  const OutputArgument output(out, &context);
  const InputArray input = ArrayArgument(x, "x", &context).view();
  const Selection selection = given.on(input.view.shape());
  return sliced(selection, input, "x", output, context);
}

nb::object py_slice_grad(nb::handle dy, nb::handle shape, nb::handle index, nb::handle out, nb::handle accumulate,
                         nb::handle dtype) {
  return gradient_of_slice(read_selection(read_dims(shape, "shape"), index), dy, out, accumulate, dtype);
}

// For outputs that are zero already: writes only the selected elements.
void py_slice_grad_into_zeros(nb::handle dy, nb::handle shape, nb::handle index, nb::handle out) {
  CallContext context;
  const Selection selection = read_selection(read_shape(shape, "shape"), index);
  const OutputArgument output(out, &context);
  gradient_of_slice(selection, ArrayArgument(dy, "dy", &context).view(), output, Write::IntoZeros, context);
}

nb::object py_strided_slice(nb::handle input, nb::handle begin, nb::handle end, nb::handle strides,
                            nb::handle begin_mask, nb::handle end_mask, nb::handle ellipsis_mask,
                            nb::handle new_axis_mask, nb::handle shrink_axis_mask, nb::handle out) {
  CallContext context;
  IntReader reader{NPY_INT16, NPY_INT32, NPY_INT64};
  const TfSlice spec = read_tf_slice(reader, begin, end, strides,
                                     {begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask});
  const OutputArgument output(out, &context);
  const InputArray view = ArrayArgument(input, "input", &context).view();
  return sliced(unwrap(Selection::from_tf(view.view.shape(), spec)), view, "input", output, context);
}

nb::object py_strided_slice_grad(nb::handle shape, nb::handle begin, nb::handle end, nb::handle strides, nb::handle dy,
                                 nb::handle begin_mask, nb::handle end_mask, nb::handle ellipsis_mask,
                                 nb::handle new_axis_mask, nb::handle shrink_axis_mask, nb::handle out,
                                 nb::handle accumulate) {
  CallContext context;
  const Write write = read_write(accumulate, out);
  IntReader reader{NPY_INT32, NPY_INT64};
  const Shape dims = unwrap(Shape::make(reader.read(shape, "shape")));
  const TfSlice spec = read_tf_slice(reader, begin, end, strides,
                                     {begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask});
  const OutputArgument output(out, &context);
  const InputArray gradient = ArrayArgument(dy, "dy", &context).view();
  return gradient_of_slice(unwrap(Selection::from_tf(dims, spec)), gradient, output, write, context);
}

nb::object py_onnx_slice(nb::handle data, nb::handle starts, nb::handle ends, nb::handle axes, nb::handle steps,
                         nb::handle out) {
  CallContext context;
  const OnnxSlice spec = read_onnx_slice(starts, ends, axes, steps);
  const OutputArgument output(out, &context);
  const InputArray input = ArrayArgument(data, "data", &context).view();
  if (input.view.shape().rank() == 0) raise(onnx_slice(input.view, spec, context).status());  // scalars are refused
  return sliced(unwrap(Selection::from_onnx(input.view.shape(), spec)), input, "data", output, context);
}

nb::object py_onnx_slice_grad(nb::handle grad, nb::handle shape, nb::handle starts, nb::handle ends, nb::handle axes,
                              nb::handle steps, nb::handle out, nb::handle accumulate) {
  CallContext context;
  const Write write = read_write(accumulate, out);
  const auto dims = IntReader{NPY_INT32, NPY_INT64}.read(shape, "shape");
  const Selection selection = unwrap(Selection::from_onnx(dims, read_onnx_slice(starts, ends, axes, steps)));
  const OutputArgument output(out, &context);
  return run(
      ArrayArgument(grad, "grad", &context).view(), "grad", selection.shape(), output,
      [&](const ConstView& view) { return onnx_slice_grad(selection, view, context); },
      [&](const ConstView& view, const View& result) {
        return onnx_slice_grad_into(selection, view, result, write, context);
      });
}

}  // namespace

nb::object sliced(const Selection& selection, const InputArray& x, const char* argument, const OutputArgument& out,
                  const Context& context) {
  return run(
      x, argument, selection.result_shape(), out,
      [&](const ConstView& view) { return backslice::slice(selection, view, context); },
      [&](const ConstView& view, const View& result) { return slice_into(selection, view, result, context); });
}

nb::object gradient_of_slice(const Selection& selection, const InputArray& dy, const OutputArgument& out, Write write,
                             const Context& context) {
  return run(
      dy, "dy", selection.shape(), out, [&](const ConstView& view) { return slice_grad(selection, view, context); },
      [&](const ConstView& view, const View& result) {
        return slice_grad_into(selection, view, result, write, context);
      });
}

nb::object gradient_of_slice(const Selection& selection, nb::handle dy, nb::handle out, nb::handle accumulate,
                             nb::handle dtype) {
  CallContext context;
  const Write write = read_write(accumulate, out);
  const OutputArgument output(out, &context);
  InputArray gradient = read_gradient(dy, GivenDType(dtype, output), "dy", &context).view();
  broadcast_to_slice(gradient.view, selection, "dy");
  return gradient_of_slice(selection, gradient, output, write, context);
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
