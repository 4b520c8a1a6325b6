#include "backslice/grad_buffer.h"

#include "backslice/c/grad_buffer.h"
#include "capi/context.h"
#include "capi/handles.h"
#include "capi/structs.h"

using namespace backslice;
using namespace backslice::capi;

int32_t backslice_grad_buffer_make(backslice_ints shape, int32_t dtype, int64_t item_size,
                                   const backslice_context* context, backslice_grad_buffer** out) {
  return guarded([&] {
    not_null(out, "out");
    const CallContext call(context);
    return give(out, unwrap(GradBuffer::make(dtype_from(dtype, "dtype"), ints_of(shape, "shape"),
                                             item_size_from(item_size), call)));
  });
}

int32_t backslice_grad_buffer_write(backslice_grad_buffer* buffer, const backslice_selection* selection,
                                    const backslice_view* dy, const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return get(buffer, "buffer").write(get(selection, "selection"), input_of(dy, "dy"), call);
  });
}

int32_t backslice_grad_buffer_add(backslice_grad_buffer* buffer, const backslice_selection* selection,
                                  const backslice_view* dy, const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return get(buffer, "buffer").add(get(selection, "selection"), input_of(dy, "dy"), call);
  });
}

int32_t backslice_grad_buffer_zero(backslice_grad_buffer* buffer, const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return get(buffer, "buffer").zero(call);
  });
}

int32_t backslice_grad_buffer_view(const backslice_grad_buffer* buffer, backslice_view* view) {
  return guarded([&] {
    StructOut given(view, "view");
    set_view(*given, get(buffer, "buffer").tensor());
    return given.give();
  });
}

int32_t backslice_grad_buffer_writable(backslice_grad_buffer* buffer, backslice_view* view) {
  return guarded([&] {
    StructOut given(view, "view");
    GradBuffer& content = get(buffer, "buffer");
    content.writable();
    set_view(*given, content.tensor());
    return given.give();
  });
}
