// backslice.Selection.
#include "backslice/selection.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "backslice/cost.h"
#include "bindings/array_argument.h"
#include "bindings/call_context.h"
#include "bindings/dtypes.h"
#include "bindings/errors.h"
#include "bindings/index.h"
#include "bindings/instances.h"
#include "bindings/module.h"
#include "bindings/prepared_slices.h"
#include "bindings/protocols.h"
#include "bindings/signatures.h"
#include "bindings/slice_dicts.h"
#include "bindings/slices.h"
#include "bindings/specs.h"

namespace backslice::python {
namespace {

nb::dict to_dict(const OnnxNodes& nodes) {
  nb::dict dict;
  dict["starts"] = to_list(nodes.slice.starts);
  dict["ends"] = to_list(nodes.slice.ends);
  dict["axes"] = to_list(*nodes.slice.axes);
  dict["steps"] = to_list(*nodes.slice.steps);
  dict["squeeze"] = to_list(nodes.squeeze);
  dict["unsqueeze"] = to_list(nodes.unsqueeze);
  return dict;
}

nb::tuple axes_of(const Selection& s) {
  nb::list axes;
  for (int i = 0; i < s.shape().rank(); ++i) {
    axes.append(nb::make_tuple(s.axis(i).start, s.axis(i).step, s.axis(i).count));
  }
  return nb::tuple(axes);
}

std::string repr_of(const Selection& s) {
  return "Selection.from_index(" + repr_text(to_tuple(s.shape())) + ", \"" + to_string(s.to_index()) + "\")";
}

std::vector<Range> read_box(nb::handle box) {
  const char* expected = "box must be a list of (lo, hi), one per axis";
  if (!PyList_Check(box.ptr()) && !PyTuple_Check(box.ptr())) raise_dtype_error(expected);
  std::vector<Range> ranges;
  const nb::object items = items_of(box);
  for (nb::handle range : nb::borrow<nb::tuple>(items)) {
    const auto bounds = IntReader().read(range, "box");
    if (bounds.size() != 2) raise_invalid_argument(expected);
    ranges.push_back({bounds[0], bounds[1]});
  }
  return ranges;
}

Device read_device(nb::handle device) {
  const auto text = PyUnicode_Check(device.ptr()) ? utf8_of(device) : std::nullopt;
  if (text == "cpu") return Device::cpu();
  if (text == "cuda") return Device::cuda(0);
  raise_invalid_argument("device is " + repr_text(device) + ", expected \"cpu\" or \"cuda\"");
}

nb::dict cost_of(const Selection& s, nb::handle dtype, nb::handle device) {
  const ElementType type = element_type(as_numpy_dtype(dtype), "dtype");
  const GradientCost cost = unwrap(slice_grad_cost(s, type.dtype, type.item_size, read_device(device)));
  nb::dict dict;
  dict["bytes_read"] = cost.bytes_read;
  dict["bytes_written"] = cost.bytes_written;
  dict["bytes_result"] = cost.bytes_result;
  dict["strategy"] = nb::str(name(cost.strategy).data());
  dict["pieces"] = cost.pieces;
  dict["plan"] = cost.plan;
  return dict;
}

nb::object restrict_to(const Selection& s, nb::handle box) {
  const auto part = unwrap(s.restrict(read_box(box)));
  if (!part) return nb::none();
  return nb::make_tuple(part->selection, to_python(part->dy.to_index()));
}

nb::object slice_by(const Selection& s, nb::handle x, nb::handle out) {
  CallContext context;
  const OutputArgument output(out, &context);
  return sliced(s, ArrayArgument(x, "x", &context).view(), "x", output, context);
}

}  // namespace

void bind_selection(nb::module_& m) {
  m.def("parse_index", [](nb::handle text) { return to_python(read_index_text(text, "text").index.items); });
  nb::class_<Selection>(m, "Selection", class_doc("Selection"))
      .def_static("from_index",
                  [](nb::handle shape, nb::handle index) { return read_selection(read_shape(shape, "shape"), index); })
      .def_static(
          "from_tf",
          [](nb::handle shape, nb::handle begin, nb::handle end, nb::handle strides, nb::handle begin_mask,
             nb::handle end_mask, nb::handle ellipsis_mask, nb::handle new_axis_mask, nb::handle shrink_axis_mask) {
            IntReader reader{NPY_INT16, NPY_INT32, NPY_INT64};
            return unwrap(Selection::from_tf(
                read_shape(shape, "shape"),
                read_tf_slice(reader, begin, end, strides,
                              {begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask})));
          })
      .def_static(
          "from_onnx",
          [](nb::handle shape, nb::handle starts, nb::handle ends, nb::handle axes, nb::handle steps) {
            return unwrap(Selection::from_onnx(read_shape(shape, "shape"), read_onnx_slice(starts, ends, axes, steps)));
          })
      .def_static("from_begin_size",
                  [](nb::handle shape, nb::handle begin, nb::handle size) {
                    const auto dims = read_shape(shape, "shape");
                    IntReader reader{NPY_INT16, NPY_INT32, NPY_INT64};
                    const auto from = reader.read(begin, "begin");
                    return unwrap(Selection::from_begin_size(dims, from, reader.read(size, "size")));
                  })
      .def_prop_ro("shape", [](const Selection& s) { return to_tuple(s.shape()); })
      .def_prop_ro("result_shape", [](const Selection& s) { return to_tuple(s.result_shape()); })
      .def_prop_ro("axes", axes_of)
      .def_prop_ro("result_axes", [](const Selection& s) { return to_tuple(s.result_axes()); })
      .def("to_index", [](const Selection& s) { return to_python(s.to_index()); })
      .def("to_tf", [](const Selection& s) { return to_dict(unwrap(s.to_tf())); })
      .def("to_onnx", [](const Selection& s) { return to_dict(s.to_onnx()); })
      .def("slice", slice_by)
      .def("grad",
           nb::overload_cast<const Selection&, nb::handle, nb::handle, nb::handle, nb::handle>(gradient_of_slice))
      .def("prepare", prepare)
      .def("restrict", restrict_to)
      .def("cost", cost_of)
      .def("explain", &Selection::explain)
      .def("_repr_svg_", [](nb::handle s) { return picture_of(s, "svg"); })
      .def("_repr_html_", [](nb::handle s) { return picture_of(s, "html"); })
      .def("__repr__", repr_of)
      .def("__eq__",
           [](const Selection& a, nb::handle b) {
             const auto* other = find_instance<Selection>(b);
             return other != nullptr && a == *other;
           })
      .def("__hash__",
           [](const Selection& s) {
             return nb::hash(nb::make_tuple(to_tuple(s.shape()), axes_of(s), to_tuple(s.result_axes())));
           })
      .def("__reduce__", reduced)
      .def("__getstate__",
           [](const Selection& s) { return nb::make_tuple(to_tuple(s.shape()), to_string(s.to_index())); })
      .def("__setstate__", [](Selection& s, nb::handle state) {
        if (!PyTuple_Check(state.ptr()) || PyTuple_GET_SIZE(state.ptr()) != 2) {
          raise_invalid_argument("state is " + repr_text(state) + ", expected (shape, index)");
        }
        new (&s) Selection(read_selection(read_shape(state[0], "shape"), state[1]));
      });
}

}  // namespace backslice::python
