// Writes a Selection as code of each notation, ready to paste.
#include <limits>

#include "backslice/notation.h"
#include "core/errors.h"
#include "notation/lists.h"
#include "select/axis_math.h"

namespace backslice {
namespace {

using List = std::vector<std::int64_t>;

struct NamedList {
  std::string_view name;
  List values;
};

constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();

// Returns one slice without the bounds that equal the defaults.
std::string shortest(const SliceRange& range, std::int64_t extent) {
  const std::int64_t step = range.step.value_or(1);
  const auto taken = [&](const SliceRange& r) {
    return axis_from_range(r.start ? clamp_bound(*r.start, extent, step) : default_start(extent, step),
                           r.stop ? clamp_bound(*r.stop, extent, step) : default_stop(extent, step), step);
  };
  const Selection::Axis wanted = taken(range);
  SliceRange found{range.start, range.stop, {}};
  if (step != 1) found.step = step;
  if (wanted == taken({{}, found.stop, {}})) found.start.reset();
  if (wanted == taken({found.start, {}, {}})) found.stop.reset();
  return to_string(Index{found});
}

// 32 bits are enough: TensorFlow reads a list as int32.
bool is_narrow(const std::vector<NamedList>& lists) {
  for (const NamedList& list : lists) {
    for (std::int64_t value : list.values) {
      if (value > kInt32Max || value < -kInt32Max) return false;
    }
  }
  return true;
}

// An empty list does not determine a type.
std::string tf_list(const List& values, bool narrow) {
  if (narrow && !values.empty()) return python_list(values);
  return "tf.constant(" + python_list(values) + ", tf.int" + (narrow ? "32" : "64") + ")";
}

std::string tf_arguments(const Selection& selection, TfSlice slice, bool with_shape) {
  if (slice.begin.empty()) {  // TensorFlow reads an empty list as floats
    slice.begin = slice.end = {0};
    slice.strides = {1};
    slice.ellipsis_mask = 1;
  }
  std::vector<NamedList> lists;
  if (with_shape) lists.push_back({"shape", List(selection.shape().begin(), selection.shape().end())});
  lists.insert(lists.end(), {{"begin", slice.begin}, {"end", slice.end}, {"strides", slice.strides}});
  const bool narrow = is_narrow(lists);
  std::string text;
  for (const NamedList& list : lists) text += join(list.name, "=", tf_list(list.values, narrow), ", ");
  const std::pair<std::string_view, std::int32_t> masks[] = {{"begin_mask", slice.begin_mask},
                                                             {"end_mask", slice.end_mask},
                                                             {"ellipsis_mask", slice.ellipsis_mask},
                                                             {"new_axis_mask", slice.new_axis_mask},
                                                             {"shrink_axis_mask", slice.shrink_axis_mask}};
  for (const auto& [mask, value] : masks) {
    if (value != 0) text += join(mask, "=", value, ", ");
  }
  return text.substr(0, text.size() - 2);
}

// The nodes and the initializers that they read.
std::string onnx_lists(std::string_view prefix, const std::vector<std::string>& nodes,
                       const std::vector<NamedList>& read) {
  std::string text =
      join("from onnx import TensorProto\nfrom onnx.helper import make_node, make_tensor\n", prefix, "nodes = [\n");
  for (const std::string& node : nodes) text += "    " + node + ",\n";
  text += join("]\n", prefix, "initializers = [\n");
  for (const NamedList& list : read) {
    text += join("    make_tensor(\"", list.name, "\", TensorProto.INT64, [", list.values.size(), "], ",
                 python_list(list.values), "),\n");
  }
  return text + "]";
}

std::vector<NamedList> onnx_arguments(const OnnxSlice& slice) {
  return {{"starts", slice.starts}, {"ends", slice.ends}, {"axes", *slice.axes}, {"steps", *slice.steps}};
}

std::string onnx_forward(const Selection& selection) {
  const OnnxNodes onnx = selection.to_onnx();
  struct After {
    std::string_view op, list;
    const List& axes;
  };
  std::vector<After> after;
  if (!onnx.squeeze.empty()) after.push_back({"Squeeze", "squeeze", onnx.squeeze});
  if (!onnx.unsqueeze.empty()) after.push_back({"Unsqueeze", "unsqueeze", onnx.unsqueeze});
  const auto result = [&](std::size_t i) { return i == after.size() ? std::string("y") : join("y", i); };
  std::vector<NamedList> read = onnx_arguments(onnx.slice);
  std::vector<std::string> nodes = {
      join("make_node(\"Slice\", [\"x\", \"starts\", \"ends\", \"axes\", \"steps\"], [\"", result(0), "\"])")};
  for (std::size_t i = 0; i < after.size(); ++i) {
    nodes.push_back(join("make_node(\"", after[i].op, "\", [\"", result(i), "\", \"", after[i].list, "\"], [\"",
                         result(i + 1), "\"])"));
    read.push_back({after[i].list, after[i].axes});
  }
  return onnx_lists("", nodes, read);
}

std::string onnx_gradient(const Selection& selection) {
  std::vector<NamedList> read = onnx_arguments(selection.to_onnx().slice);
  read.insert(read.begin(), {"shape", List(selection.shape().begin(), selection.shape().end())});
  return onnx_lists(
      "grad_",
      {"make_node(\"SliceGrad\", [\"dY\", \"shape\", \"starts\", \"ends\", \"axes\", \"steps\"], [\"dX\"], "
       "domain=\"com.microsoft\")"},
      read);
}

}  // namespace

std::string python_list(Ints values) {
  std::string text;
  for (std::int64_t value : values) text += join(text.empty() ? "" : ", ", value);
  return "[" + text + "]";
}

std::string python_tuple(Ints values) {
  const std::string list = python_list(values);
  return "(" + list.substr(1, list.size() - 2) + (values.size() == 1 ? ",)" : ")");
}

std::string index_text(const Selection& selection) {
  std::vector<std::string> items;
  int axis = 0;
  for (const IndexItem& item : selection.to_index()) {
    const auto* range = std::get_if<SliceRange>(&item);
    items.push_back(range != nullptr ? shortest(*range, selection.shape()[axis]) : to_string(Index{item}));
    axis += !std::holds_alternative<NewAxis>(item);
  }
  while (items.size() > 1 && items.back() == ":") items.pop_back();
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text.empty() ? "..." : text;
}

Result<std::string> forward_code(const Selection& selection, Dialect dialect) {
  return without_throwing([&]() -> Result<std::string> {
    if (dialect == Dialect::Python) return "y = x[" + index_text(selection) + "]";
    if (dialect == Dialect::Onnx) return onnx_forward(selection);
    const auto slice = selection.to_tf();
    if (!slice.ok()) return slice.status();
    return "y = tf.raw_ops.StridedSlice(input=x, " + tf_arguments(selection, *slice, false) + ")";
  });
}

Result<std::string> gradient_code(const Selection& selection, Dialect dialect) {
  return without_throwing([&]() -> Result<std::string> {
    if (dialect == Dialect::Python) {
      return "dx = bs.slice_grad(dy, " + python_tuple(selection.shape()) + ", np.s_[" + index_text(selection) + "])";
    }
    if (dialect == Dialect::Onnx) return onnx_gradient(selection);
    const auto slice = selection.to_tf();
    if (!slice.ok()) return slice.status();
    return "dx = tf.raw_ops.StridedSliceGrad(" + tf_arguments(selection, *slice, true) + ", dy=dy)";
  });
}

std::vector<std::string> obstacles(const Selection& selection, Dialect dialect) {
  std::vector<std::string> found;
  if (dialect == Dialect::Onnx) {
    const OnnxNodes onnx = selection.to_onnx();
    if (!onnx.squeeze.empty()) {
      found.push_back("ONNX's Slice has no integer index: Squeeze axes " + python_list(onnx.squeeze) + " after it");
    }
    if (!onnx.unsqueeze.empty()) {
      found.push_back("ONNX's Slice has no new axes: Unsqueeze axes " + python_list(onnx.unsqueeze) + " after it");
    }
    if (selection.shape().rank() == 0) {
      found.push_back("ONNX's Slice refuses a scalar input; ONNX Runtime's SliceGrad takes it");
    }
  }
  if (dialect == Dialect::Tf) {
    const auto slice = selection.to_tf();
    if (!slice.ok()) found.push_back("this slice cannot be written for TensorFlow: " + slice.status().message());
  }
  return found;
}

}  // namespace backslice
