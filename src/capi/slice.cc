#include "backslice/slice.h"

#include <optional>
#include <string>
#include <utility>

#include "backslice/c/slice.h"
#include "backslice/multi_slice.h"
#include "capi/context.h"
#include "capi/handles.h"
#include "ops/slices.h"

using namespace backslice;
using namespace backslice::capi;

namespace {

// strided_slice and its gradient are a slice by this selection.
Result<Selection> tf_selection_of(Ints shape, const backslice_tf_slice* spec) {
  return selection_from_tf(shape, tf_lists_of(spec));
}

// The selection or the dy that a message of C++ names slices[i].selection or slices[i].dy, by its name in C: nothing
// where it names none.
std::optional<std::pair<std::string, std::string>> next_name(const std::string& message) {
  constexpr std::pair<std::string_view, std::string_view> kLists[] = {{".dy", "dys"}, {".selection", "selections"}};
  const std::size_t begin = message.find("slices["), bracket = message.find(']', begin);
  if (begin == std::string::npos || bracket == std::string::npos) return std::nullopt;
  const std::string slice = message.substr(begin, bracket + 1 - begin);
  for (const auto& [field, list] : kLists) {
    if (message.compare(bracket + 1, field.size(), field) != 0) continue;
    return std::pair(join(slice, field), join(list, slice.substr(slice.find('['))));
  }
  return std::nullopt;
}

// An error about slices, of which C gives the selections and the gradients in two lists. What it is about comes first.
Status in_two_lists(Status error) {
  if (error.ok()) return error;
  const bool is_about_slices = error.argument() == "slices";
  std::string list = "selections";
  for (bool is_first = true; const auto name = next_name(error.message()); is_first = false) {
    if (is_first) list = name->second.substr(0, name->second.find('['));
    error = renamed(std::move(error), name->first, name->second);
  }
  if (!is_about_slices) return error;
  const auto position = error.position();
  return std::move(error).at(list, position);
}

std::vector<SliceGradient> slices_of(const backslice_selection* const* selections, const backslice_view* dys,
                                     int64_t count) {
  const auto handles = items(selections, count, "selections", "count");
  const auto views = items(dys, count, "dys", "count");
  std::vector<SliceGradient> slices;
  slices.reserve(handles.size());
  for (std::size_t at = 0; at < handles.size(); ++at) {
    const auto i = static_cast<std::int64_t>(at);
    slices.push_back({get(handles[at], Argument("selections", i)), input_of(&views[at], {"dys", i})});
  }
  return slices;
}

}  // namespace

int32_t backslice_slice_into(const backslice_selection* selection, const backslice_view* x, const backslice_view* out,
                             const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return unguarded::slice_into(get(selection, "selection"), input_of(x, "x"), view_of(out, "out"), call);
  });
}

int32_t backslice_slice_grad_into(const backslice_selection* selection, const backslice_view* dy,
                                  const backslice_view* out, int32_t write, const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return unguarded::slice_grad_into(get(selection, "selection"), input_of(dy, "dy"), view_of(out, "out"),
                                      write_of(write), call);
  });
}

int32_t backslice_strided_slice_shape(backslice_ints shape, const backslice_tf_slice* spec,
                                      int64_t result_shape[BACKSLICE_MAX_RANK], int32_t* result_rank) {
  return guarded([&] {
    const ShapeOut out(result_shape, "result_shape", result_rank, "result_rank");
    return out.set(unwrap(tf_selection_of(ints_of(shape, "shape"), spec)).result_shape());
  });
}

int32_t backslice_strided_slice_into(const backslice_view* input, const backslice_tf_slice* spec,
                                     const backslice_view* out, const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    const ConstView from = input_of(input, "input");
    const View into = view_of(out, "out");
    const auto selection = tf_selection_of(from.shape(), spec);
    if (!selection.ok()) return selection.status();
    return unguarded::slice_into(*selection, from, into, call);
  });
}

int32_t backslice_strided_slice_grad_into(backslice_ints shape, const backslice_tf_slice* spec,
                                          const backslice_view* dy, const backslice_view* out, int32_t write,
                                          const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    const auto selection = tf_selection_of(ints_of(shape, "shape"), spec);
    if (!selection.ok()) return selection.status();
    return unguarded::slice_grad_into(*selection, input_of(dy, "dy"), view_of(out, "out"), write_of(write), call);
  });
}

int32_t backslice_onnx_slice_shape(backslice_ints shape, const backslice_onnx_slice* spec,
                                   int64_t result_shape[BACKSLICE_MAX_RANK], int32_t* result_rank) {
  return guarded([&] {
    const ShapeOut out(result_shape, "result_shape", result_rank, "result_rank");
    return out.set(unwrap(Selection::from_onnx(ints_of(shape, "shape"), onnx_slice_of(spec))).result_shape());
  });
}

int32_t backslice_onnx_slice_into(const backslice_view* data, const backslice_onnx_slice* spec,
                                  const backslice_view* out, const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return onnx_slice_into(input_of(data, "data"), onnx_slice_of(spec), view_of(out, "out"), call);
  });
}

int32_t backslice_onnx_slice_grad_into(const backslice_view* grad, backslice_ints shape,
                                       const backslice_onnx_slice* spec, const backslice_view* out, int32_t write,
                                       const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return onnx_slice_grad_into(input_of(grad, "grad"), ints_of(shape, "shape"), onnx_slice_of(spec),
                                view_of(out, "out"), write_of(write), call);
  });
}

int32_t backslice_multi_slice_grad_into(backslice_ints shape, const backslice_selection* const* selections,
                                        const backslice_view* dys, int64_t count, const backslice_view* out,
                                        int32_t write, const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    const auto slices = slices_of(selections, dys, count);
    return in_two_lists(
        multi_slice_grad_into(ints_of(shape, "shape"), slices, view_of(out, "out"), write_of(write), call));
  });
}

int32_t backslice_multi_slice_write_into(backslice_ints shape, const backslice_selection* const* selections,
                                         const backslice_view* dys, int64_t count, const backslice_view* out,
                                         const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    const auto slices = slices_of(selections, dys, count);
    return in_two_lists(multi_slice_write_into(ints_of(shape, "shape"), slices, view_of(out, "out"), call));
  });
}
