// backslice.dialects: slices as text.
#include <nanobind/nanobind.h>

#include "backslice/notation.h"
#include "bindings/errors.h"
#include "bindings/index.h"
#include "bindings/module.h"
#include "bindings/objects.h"
#include "bindings/slice_dicts.h"
#include "bindings/specs.h"

namespace backslice::python {
namespace {

Dialect read_dialect(nb::handle dialect) {
  const std::string_view name = read_str(dialect, "dialect");
  if (name == "python") return Dialect::Python;
  if (name == "tf") return Dialect::Tf;
  if (name == "onnx") return Dialect::Onnx;
  raise_invalid_argument(repr_text(dialect) + " is not a dialect; choose one of python, tf, onnx");
}

SliceText read_slice_text(nb::handle dialect, std::string_view text) {
  return unwrap(parse_slice(read_dialect(dialect), text), text);
}

// Returns the arguments as keywords of Selection.from_tf or from_onnx; ONNX arguments that were not given are omitted.
nb::dict onnx_dict(const OnnxSlice& slice) {
  nb::dict dict;
  dict["starts"] = to_list(slice.starts);
  dict["ends"] = to_list(slice.ends);
  if (slice.axes) dict["axes"] = to_list(*slice.axes);
  if (slice.steps) dict["steps"] = to_list(*slice.steps);
  return dict;
}

nb::object parsed_slice(nb::handle dialect, nb::handle text) {
  const SliceText slice = read_slice_text(dialect, read_str(text, "text"));
  if (const auto* tf = std::get_if<TfSlice>(&slice.arguments)) return to_dict(*tf);
  return onnx_dict(std::get<OnnxSlice>(slice.arguments));
}

nb::object item_or(const nb::dict& dict, const char* key, nb::object otherwise) {
  return dict.contains(key) ? nb::borrow(dict[key]) : std::move(otherwise);
}

SliceArguments read_arguments(Dialect dialect, const nb::dict& given) {
  const auto at = [&](const char* key) { return item_or(given, key, nb::none()); };
  const auto mask = [&](const char* key) { return item_or(given, key, nb::int_(0)); };
  if (dialect == Dialect::Python) return read_index_items(at("index"), 0);
  if (dialect == Dialect::Onnx) {
    const nb::object starts = at("starts"), ends = at("ends"), axes = at("axes"), steps = at("steps");
    return read_onnx_slice(starts, ends, axes, steps);
  }
  IntReader reader{NPY_INT16, NPY_INT32, NPY_INT64};
  const nb::object begin = at("begin"), end = at("end"), strides = at("strides"), begin_mask = mask("begin_mask"),
                   end_mask = mask("end_mask"), ellipsis = mask("ellipsis_mask"), new_axis = mask("new_axis_mask"),
                   shrink = mask("shrink_axis_mask");
  return read_tf_slice(reader, begin, end, strides, {begin_mask, end_mask, ellipsis, new_axis, shrink});
}

nb::list to_python_list(const std::vector<std::string>& texts) {
  nb::list list;
  for (const std::string& text : texts) list.append(new_str(text));
  return list;
}

nb::list found_disagreements(nb::handle dialect, nb::handle arguments, nb::handle shape, nb::handle others) {
  if (!PyDict_Check(arguments.ptr()))
    raise_dtype_error("arguments is of type " + type_text(arguments) + ", expected a dict");
  std::vector<Dialect> compared;
  const nb::object items = items_of(others);
  for (nb::handle other : nb::borrow<nb::tuple>(items)) compared.push_back(read_dialect(other));
  const auto dims = read_shape(shape, "shape");
  return to_python_list(
      unwrap(disagreements(dims, read_arguments(read_dialect(dialect), nb::borrow<nb::dict>(arguments)), compared)));
}

nb::object written_code(nb::handle selection, nb::handle dialect, nb::handle gradient) {
  const auto write = read_flag(gradient, "gradient") ? gradient_code : forward_code;
  return new_str(unwrap(write(require_selection(selection), read_dialect(dialect))));
}

}  // namespace

void bind_notations(nb::module_& m) {
  m.def("_parse_slice", parsed_slice);
  m.def("_select_text", [](nb::handle dialect, nb::handle text, nb::handle shape) {
    const std::string read(read_str(text, "text"));
    const auto dims = read_shape(shape, "shape");
    return unwrap(read_slice_text(dialect, read).to_selection(dims), read);
  });
  m.def("_parse_integers", [](nb::handle text, nb::handle name) {
    const std::string_view read = read_str(text, "text");
    return to_list(unwrap(parse_integers(read, read_str(name, "name")), read).values);
  });
  m.def("_index_text", [](nb::handle selection) { return new_str(index_text(require_selection(selection))); });
  m.def("_code", written_code);
  m.def("_obstacles", [](nb::handle selection, nb::handle dialect) {
    return to_python_list(obstacles(require_selection(selection), read_dialect(dialect)));
  });
  m.def("_disagreements", found_disagreements);
}

}  // namespace backslice::python
