// The first tab: a slice in three notations, its pictures, and other slices drawn over it.
#include "answer.h"
#include "backslice/cost.h"
#include "backslice/multi_slice.h"
#include "core/errors.h"
#include "notation/lists.h"
#include "slice_cells.h"

namespace explorer {

using namespace backslice;

namespace {

constexpr std::size_t kMostSlices = 16;
constexpr Dialect kDialects[] = {Dialect::Python, Dialect::Tf, Dialect::Onnx};

// The slice as written in the fields of one notation.
struct Written {
  SliceArguments arguments;
  std::vector<std::pair<std::string_view, std::vector<TextSpan>>> places;  // the spans of each field's entries

  Status located(Status error) const {
    for (const auto& [field, spans] : places) error = explorer::located(std::move(error), field, spans);
    return error;
  }
};

Result<Written> written_in_python(const Request& request) {
  return request.index().transform(
      [](IndexText&& index) { return Written{std::move(index.items), {{"index", std::move(index.spans)}}}; });
}

// Reads a list into `values`; an empty optional field is not read.
Status read_list(const Request& request, std::string_view field, std::vector<std::int64_t>& values, Written& written) {
  auto list = request.integers(field);
  if (!list.ok()) return list.status();
  values = std::move(list->values);
  written.places.emplace_back(field, std::move(list->spans));
  return Status();
}

Result<Written> written_in_tf(const Request& request) {
  TfSlice slice;
  Written written;
  BACKSLICE_RETURN_IF_ERROR(read_list(request, "begin", slice.begin, written));
  BACKSLICE_RETURN_IF_ERROR(read_list(request, "end", slice.end, written));
  BACKSLICE_RETURN_IF_ERROR(read_list(request, "strides", slice.strides, written));
  if (request.is_blank("strides")) slice.strides.assign(slice.begin.size(), 1);
  const std::pair<std::string_view, std::int32_t*> masks[] = {{"begin_mask", &slice.begin_mask},
                                                              {"end_mask", &slice.end_mask},
                                                              {"ellipsis_mask", &slice.ellipsis_mask},
                                                              {"new_axis_mask", &slice.new_axis_mask},
                                                              {"shrink_axis_mask", &slice.shrink_axis_mask}};
  for (const auto& [field, mask] : masks) {
    const auto read = request.mask(field);
    if (!read.ok()) return read.status();
    *mask = *read;
  }
  written.arguments = std::move(slice);
  return written;
}

Result<Written> written_in_onnx(const Request& request) {
  OnnxSlice slice;
  Written written;
  std::vector<std::int64_t> axes, steps;
  BACKSLICE_RETURN_IF_ERROR(read_list(request, "starts", slice.starts, written));
  BACKSLICE_RETURN_IF_ERROR(read_list(request, "ends", slice.ends, written));
  BACKSLICE_RETURN_IF_ERROR(read_list(request, "axes", axes, written));
  BACKSLICE_RETURN_IF_ERROR(read_list(request, "steps", steps, written));
  if (!request.is_blank("axes")) slice.axes = std::move(axes);
  if (!request.is_blank("steps")) slice.steps = std::move(steps);
  written.arguments = std::move(slice);
  return written;
}

Result<Written> read_slice(const Request& request) {
  const std::string_view from = request.text("from");
  return from == "tf" ? written_in_tf(request) : from == "onnx" ? written_in_onnx(request) : written_in_python(request);
}

// Reads the other slices, one per line, in NumPy's notation.
Result<std::vector<Selection>> read_others(const Request& request, Ints shape) {
  const auto lines = lines_of(request.text("more"), "more", kMostSlices, false);
  if (!lines.ok()) return lines.status();
  std::vector<Selection> selections;
  for (const Line& line : *lines) {
    const auto selection = Selection::from_index(shape, line.text);
    if (!selection.ok()) return in_line(selection.status(), line, "more");
    selections.push_back(*selection);
  }
  return selections;
}

// Fills every notation's fields for a selection; TensorFlow's stay empty if it cannot express it.
void add_fields(Json& json, const Selection& selection, const Request& request) {
  json.key("fields").begin_object().member("index", index_text(selection));
  const auto written = selection.to_tf();
  const TfSlice tf = written.ok() ? *written : TfSlice();
  json.member("begin", listed(tf.begin)).member("end", listed(tf.end)).member("strides", listed(tf.strides));
  json.member("begin_mask", join(tf.begin_mask)).member("end_mask", join(tf.end_mask));
  json.member("ellipsis_mask", join(tf.ellipsis_mask)).member("new_axis_mask", join(tf.new_axis_mask));
  json.member("shrink_axis_mask", join(tf.shrink_axis_mask));
  const OnnxNodes onnx = selection.to_onnx();
  json.member("starts", listed(onnx.slice.starts)).member("ends", listed(onnx.slice.ends));
  json.member("axes", listed(*onnx.slice.axes)).member("steps", listed(*onnx.slice.steps)).end_object();
  json.member("entries", request.text("from") == "tf" ? request.entries("begin") : tf.begin.size());
}

// Converts numbers to text: JavaScript's numbers have 53 bits.
void add_normal_form(Json& json, const Selection& selection) {
  json.key("axes").begin_list();
  for (int i = 0; i < selection.shape().rank(); ++i) {
    const Selection::Axis& axis = selection.axis(i);
    json.value(join(axis.start, " ", axis.step, " ", axis.count));
  }
  json.end_list().member("result_axes", listed(selection.result_axes()));
  json.member("result_shape", listed(selection.result_shape())).member("shape", listed(selection.shape()));
  json.member("explanation", selection.explain());
}

void add_cost(Json& json, const Selection& selection) {
  const auto cost = slice_grad_cost(selection, DType::Float32);
  json.key("cost").begin_object();
  if (cost.ok()) {
    json.member("read", std::to_string(cost->bytes_read)).member("written", std::to_string(cost->bytes_written));
  } else {
    json.member("error", cost.status().message());
  }
  json.end_object();
}

void add_warnings(Json& json, const Selection& selection, const Written& written) {
  std::vector<std::string> found;
  if (auto differing = disagreements(selection.shape(), written.arguments, kDialects); differing.ok())
    found = *differing;
  for (Dialect dialect : kDialects) {
    for (std::string& obstacle : obstacles(selection, dialect)) found.push_back(std::move(obstacle));
  }
  json.key("warnings").strings(found);
}

std::string many_index(const Selection& selection) { return "np.s_[" + index_text(selection) + "]"; }

Code many_code(const std::vector<Selection>& selections) {
  std::string forward, pairs;
  for (std::size_t i = 0; i < selections.size(); ++i) {
    forward += join("y", i, " = x[", index_text(selections[i]), "]\n");
    pairs += join(pairs.empty() ? "" : ", ", "(", many_index(selections[i]), ", dy", i, ")");
  }
  forward.pop_back();
  return {"NumPy, all slices", join(kNumpyImports, forward),
          join("dx = bs.multi_slice_grad(", python_tuple(selections[0].shape()), ", [", pairs, "])")};
}

// Returns the gradient's code without the imports, which the slice's code has already.
std::string without_imports(std::string code) {
  while (code.starts_with("from ")) code.erase(0, code.find('\n') + 1);
  return code;
}

std::string_view imports_of(Dialect dialect) {
  if (dialect == Dialect::Onnx) return "";  // the code itself begins with them
  return dialect == Dialect::Python ? kNumpyImports : kTensorFlowImports;
}

std::vector<Code> code_of(const Selection& selection, const std::vector<Selection>& all) {
  std::vector<Code> found;
  for (Dialect dialect : kDialects) {
    const auto forward = forward_code(selection, dialect), gradient = gradient_code(selection, dialect);
    if (!forward.ok() || !gradient.ok()) continue;
    found.push_back({std::string(name(dialect)), join(imports_of(dialect), *forward), without_imports(*gradient)});
  }
  if (all.size() > 1) found.push_back(many_code(all));
  return found;
}

}  // namespace

std::string answer_slice(const Request& request) {
  const auto shape = request.shape();
  if (!shape.ok()) return error_answer(shape.status(), request);
  const auto written = read_slice(request);
  if (!written.ok()) return error_answer(written.status(), request);
  const auto selection = to_selection(shape->values, written->arguments);
  if (!selection.ok()) return error_answer(written->located(selection.status()), request);
  const auto others = read_others(request, shape->values);
  if (!others.ok()) return error_answer(others.status(), request);
  std::vector<Selection> all = {*selection};
  all.insert(all.end(), others->begin(), others->end());

  Json json;
  begin_answer(json);
  json.member("summary", join("x[", index_text(*selection), "] of shape [", listed(selection->shape()),
                              "] gives shape [", listed(selection->result_shape()), "]"));
  add_fields(json, *selection, request);
  add_normal_form(json, *selection);
  add_cost(json, *selection);
  add_warnings(json, *selection, *written);
  add_pictures(json, slice_pictures(all, request.limits()), request);
  add_code(json, code_of(*selection, all));
  return end_answer(json);
}

}  // namespace explorer
