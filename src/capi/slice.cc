#include "backslice/c/slice.h"

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

// C gives selections and gradients in two lists.
constexpr unguarded::SliceNames kTwoLists{.slices = "selections", .selection = {"selections", ""}, .dy = {"dys", ""}};

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
    return unguarded::slice_into(*selection, from, into, call, "input");
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
    return unguarded::multi_slice_grad_into(ints_of(shape, "shape"), slices, view_of(out, "out"), write_of(write), call,
                                            kTwoLists);
  });
}

int32_t backslice_multi_slice_write_into(backslice_ints shape, const backslice_selection* const* selections,
                                         const backslice_view* dys, int64_t count, const backslice_view* out,
                                         const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    const auto slices = slices_of(selections, dys, count);
    return unguarded::multi_slice_write_into(ints_of(shape, "shape"), slices, view_of(out, "out"), call, kTwoLists);
  });
}
