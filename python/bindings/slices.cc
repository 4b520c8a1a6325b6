// The operations: arguments in, one call of the library without the GIL, array out.
#include <nanobind/nanobind.h>

#include "backslice/slice.h"
#include "bindings/array_argument.h"
#include "bindings/call_options.h"
#include "bindings/errors.h"
#include "bindings/index.h"
#include "bindings/module.h"
#include "bindings/object_arrays.h"
#include "bindings/specs.h"

namespace backslice::python {
namespace {

// Runs one operation: `make` returns a new tensor from the input, `fill` fills a given one. `result_shape` may be null
// where it is not known yet.
template <class Make, class Fill>
nb::object run(const InputArray& input, const char* argument, const Shape* result_shape, nb::handle out, Make make,
               Fill fill) {
  if (input.type.is_object) {
    const nb::object zero = empty_string_of(input, argument);
    if (out.is_none()) return new_object_array(unwrap(make(input.view)), zero);
    move_objects(output_view(out, input, argument), zero, [&](const View& view) { return fill(input.view, view); });
    return nb::borrow(out);
  }
  if (!out.is_none()) {
    const View view = output_view(out, input, argument);
    check(without_gil([&] { return fill(input.view, view); }));
    return nb::borrow(out);
  }
  if (result_shape != nullptr && is_small(*result_shape, input)) {
    // NumPy's own memory is the quickest to get, and the work is done sooner than another thread would wake up.
    View view;
    nb::object result = new_small_array(*result_shape, input, view);
    check(fill(input.view, view));
    return result;
  }
  return to_numpy(unwrap(without_gil([&] { return make(input.view); })), input.numpy_dtype);
}

nb::object py_slice(nb::handle x, nb::handle index, nb::handle out) {
  const CallOptions options;
  const GivenIndex given(index);
  const InputArray input = ArrayArgument(x, "x").view();
  const Selection selection = given.on(input.view.shape());
  return run(
      input, "x", &selection.result_shape(), out,
      [&](const ConstView& view) { return backslice::slice(selection, view, options); },
      [&](const ConstView& view, const View& result) { return slice_into(selection, view, result, options); });
}

nb::object py_slice_grad(nb::handle dy, nb::handle shape, nb::handle index, nb::handle out, nb::handle accumulate) {
  const CallOptions options(accumulate, out);
  const Selection selection = read_selection(read_shape(shape, "shape"), index);
  return run(
      ArrayArgument(dy, "dy").view(), "dy", &selection.shape(), out,
      [&](const ConstView& view) { return slice_grad(selection, view, options); },
      [&](const ConstView& view, const View& result) { return slice_grad_into(selection, view, result, options); });
}

nb::object py_strided_slice(nb::handle input, nb::handle begin, nb::handle end, nb::handle strides,
                            nb::handle begin_mask, nb::handle end_mask, nb::handle ellipsis_mask,
                            nb::handle new_axis_mask, nb::handle shrink_axis_mask, nb::handle out) {
  const CallOptions options;
  IntReader reader{NPY_INT16, NPY_INT32, NPY_INT64};
  const TfSlice spec = read_tf_slice(reader, begin, end, strides,
                                     {begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask});
  return run(
      ArrayArgument(input, "input").view(), "input", nullptr, out,
      [&](const ConstView& view) { return strided_slice(view, spec, options); },
      [&](const ConstView& view, const View& result) { return strided_slice_into(view, spec, result, options); });
}

nb::object py_strided_slice_grad(nb::handle shape, nb::handle begin, nb::handle end, nb::handle strides, nb::handle dy,
                                 nb::handle begin_mask, nb::handle end_mask, nb::handle ellipsis_mask,
                                 nb::handle new_axis_mask, nb::handle shrink_axis_mask, nb::handle out,
                                 nb::handle accumulate) {
  const CallOptions options(accumulate, out);
  IntReader reader{NPY_INT32, NPY_INT64};
  const auto dims = reader.read(shape, "shape");
  const Shape result_shape = unwrap(Shape::make(dims));
  const TfSlice spec = read_tf_slice(reader, begin, end, strides,
                                     {begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask});
  return run(
      ArrayArgument(dy, "dy").view(), "dy", &result_shape, out,
      [&](const ConstView& view) { return strided_slice_grad(dims, spec, view, options); },
      [&](const ConstView& view, const View& result) {
        return strided_slice_grad_into(dims, spec, view, result, options);
      });
}

nb::object py_onnx_slice(nb::handle data, nb::handle starts, nb::handle ends, nb::handle axes, nb::handle steps,
                         nb::handle out) {
  const CallOptions options;
  const OnnxSlice spec = read_onnx_slice(starts, ends, axes, steps);
  return run(
      ArrayArgument(data, "data").view(), "data", nullptr, out,
      [&](const ConstView& view) { return onnx_slice(view, spec, options); },
      [&](const ConstView& view, const View& result) { return onnx_slice_into(view, spec, result, options); });
}

nb::object py_onnx_slice_grad(nb::handle grad, nb::handle shape, nb::handle starts, nb::handle ends, nb::handle axes,
                              nb::handle steps, nb::handle out, nb::handle accumulate) {
  const CallOptions options(accumulate, out);
  const auto dims = IntReader{NPY_INT32, NPY_INT64}.read(shape, "shape");
  const Shape result_shape = unwrap(Shape::make(dims));
  const OnnxSlice spec = read_onnx_slice(starts, ends, axes, steps);
  return run(
      ArrayArgument(grad, "grad").view(), "grad", &result_shape, out,
      [&](const ConstView& view) { return onnx_slice_grad(view, dims, spec, options); },
      [&](const ConstView& view, const View& result) {
        return onnx_slice_grad_into(view, dims, spec, result, options);
      });
}

}  // namespace

void bind_slices(nb::module_& m) {
  m.def("slice", py_slice, any("x"), any("index"), any("out") = nb::none(),
        "x[index] as a new array (or in out). The index is NumPy basic indexing, its text, or a Selection.");
  m.def("slice_grad", py_slice_grad, any("dy"), any("shape"), any("index"), any("out") = nb::none(),
        any("accumulate") = false,
        "The gradient of x[index] with respect to x of that shape: dy where x was taken, zero elsewhere.\n"
        "With accumulate=True, out[index] += dy instead.");
  m.def("strided_slice", py_strided_slice, any("input"), any("begin"), any("end"), any("strides"),
        any("begin_mask") = 0, any("end_mask") = 0, any("ellipsis_mask") = 0, any("new_axis_mask") = 0,
        any("shrink_axis_mask") = 0, nb::kw_only(), any("out") = nb::none(), "TensorFlow's StridedSlice.");
  m.def("strided_slice_grad", py_strided_slice_grad, any("shape"), any("begin"), any("end"), any("strides"), any("dy"),
        any("begin_mask") = 0, any("end_mask") = 0, any("ellipsis_mask") = 0, any("new_axis_mask") = 0,
        any("shrink_axis_mask") = 0, nb::kw_only(), any("out") = nb::none(), any("accumulate") = false,
        "TensorFlow's StridedSliceGrad.");
  m.def("onnx_slice", py_onnx_slice, any("data"), any("starts"), any("ends"), any("axes") = nb::none(),
        any("steps") = nb::none(), nb::kw_only(), any("out") = nb::none(), "ONNX's Slice.");
  m.def("onnx_slice_grad", py_onnx_slice_grad, any("grad"), any("shape"), any("starts"), any("ends"),
        any("axes") = nb::none(), any("steps") = nb::none(), nb::kw_only(), any("out") = nb::none(),
        any("accumulate") = false,
        "ONNX Runtime's SliceGrad. grad may have any shape with as many elements as the slice.");
}

}  // namespace backslice::python
