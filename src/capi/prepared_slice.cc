#include "backslice/prepared_slice.h"

#include "backslice/c/slice.h"
#include "capi/context.h"
#include "capi/handles.h"

using namespace backslice;
using namespace backslice::capi;

int32_t backslice_prepared_slice_make(const backslice_selection* selection, int32_t dtype, int64_t item_size,
                                      backslice_prepared_slice** out) {
  return guarded([&] {
    not_null(out, "out");
    return give(out, unwrap(PreparedSlice::make(get(selection, "selection"), dtype_from(dtype, "dtype"),
                                                item_size_from(item_size))));
  });
}

int32_t backslice_prepared_slice_make_for(const backslice_selection* selection, const backslice_view* x,
                                          const backslice_view* y, backslice_prepared_slice** out) {
  return guarded([&] {
    not_null(out, "out");
    const View from = layout_of(x, "x"), to = layout_of(y, "y");
    if (from.dtype != to.dtype) {
      return dtype_error("x has dtype ", name(from.dtype), ", but y has ", name(to.dtype)).at("y");
    }
    return give(out, unwrap(PreparedSlice::make(get(selection, "selection"), from.dtype, from.layout, to.layout)));
  });
}

int32_t backslice_prepared_slice_forward(const backslice_prepared_slice* prepared, const backslice_view* x,
                                         const backslice_view* out, const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return get(prepared, "prepared").forward(input_of(x, "x"), view_of(out, "out"), call);
  });
}

int32_t backslice_prepared_slice_gradient(const backslice_prepared_slice* prepared, const backslice_view* dy,
                                          const backslice_view* out, const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return get(prepared, "prepared").gradient(input_of(dy, "dy"), view_of(out, "out"), call);
  });
}

int32_t backslice_prepared_slice_accumulate(const backslice_prepared_slice* prepared, const backslice_view* dy,
                                            const backslice_view* out, const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return get(prepared, "prepared").accumulate(input_of(dy, "dy"), view_of(out, "out"), call);
  });
}
