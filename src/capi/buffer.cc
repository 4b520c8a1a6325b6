#include "backslice/buffer.h"

#include "capi/context.h"
#include "capi/handles.h"
#include "ops/call.h"

using namespace backslice;
using namespace backslice::capi;

int32_t backslice_buffer_make(int64_t bytes, int32_t zeroed, const backslice_context* context, backslice_buffer** out) {
  return guarded([&] {
    not_null(out, "out");
    if (bytes < 0) return invalid_argument("bytes is ", bytes, ", expected at least 0").at("bytes");
    const Contents contents = flag_of(zeroed, "zeroed") ? Contents::Zero : Contents::Uninitialised;
    const CallContext call(context);
    const Call made(call, call.device());
    return give(out, unwrap(calling("the allocator", [&] { return made.allocator.allocate(bytes, contents); })));
  });
}

int32_t backslice_buffer_data(backslice_buffer* buffer, void** data) {
  return guarded([&] {
    not_null(data, "data") = get(buffer, "buffer").data();
    return Status();
  });
}
