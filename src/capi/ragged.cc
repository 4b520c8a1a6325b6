#include "backslice/c/ragged.h"

#include "backslice/ragged_slice.h"
#include "capi/context.h"
#include "capi/handles.h"
#include "capi/ragged_arguments.h"
#include "capi/shared_memory.h"

using namespace backslice;
using namespace backslice::capi;

namespace backslice::capi {

Status set_size(StructOut<backslice_ragged_size>& out, const RaggedSize& from) {
  if (from.splits.size() > BACKSLICE_MAX_RANK) {
    return unimplemented("the result has ", counted(from.splits.size(), "list", "lists"),
                         " of row splits; in C there may be ", BACKSLICE_MAX_RANK);
  }
  backslice_ragged_size& size = *out;
  size.ragged_rank = static_cast<std::int32_t>(from.splits.size());
  std::copy(from.splits.begin(), from.splits.end(), size.splits);
  size.rank = from.values.rank();
  std::copy(from.values.begin(), from.values.end(), size.values);
  size.item_size = from.item_size;
  size.dtype = static_cast<std::int32_t>(from.dtype);
  size.splits_dtype = static_cast<std::int32_t>(from.splits_dtype);
  return out.give();
}

}  // namespace backslice::capi

namespace {

using Make = decltype(named::make_ragged);

// From values that the caller shares and lists, which are `argument`, by either function.
Status make_ragged(Make& make, const backslice_view* values, const std::vector<View>& lists, const char* argument,
                   Release release, void* user, const backslice_context* context, backslice_ragged** out) {
  not_null(out, "out");
  const CallContext call(context);
  SharedMemory memory(view_of(values, "values"), release, user);
  return memory.keep_if_ok(give(out, unwrap(make(memory.tensor(), borrowed(lists), argument, call))));
}

}  // namespace

int32_t backslice_ragged_make(const backslice_view* values, const backslice_view* row_splits, int32_t count,
                              void (*release)(void* user), void* user, const backslice_context* context,
                              backslice_ragged** out) {
  return guarded([&] {
    return make_ragged(named::make_ragged, values, views_of(row_splits, count, "row_splits"), "row_splits", release,
                       user, context, out);
  });
}

int32_t backslice_ragged_from_row_lengths(const backslice_view* values, const backslice_view* row_lengths,
                                          int32_t count, void (*release)(void* user), void* user,
                                          const backslice_context* context, backslice_ragged** out) {
  return guarded([&] {
    return make_ragged(named::ragged_from_row_lengths, values, views_of(row_lengths, count, "row_lengths"),
                       "row_lengths", release, user, context, out);
  });
}

int32_t backslice_ragged_rank(const backslice_ragged* rt, int32_t* ragged_rank) {
  return guarded([&] {
    not_null(ragged_rank, "ragged_rank") = get(rt, "rt").ragged_rank();
    return Status();
  });
}

int32_t backslice_ragged_row_splits(const backslice_ragged* rt, int32_t level, backslice_view* view) {
  return guarded([&] {
    StructOut given(view, "view");
    const auto& lists = get(rt, "rt").nested_row_splits();
    if (level < 0 || level >= std::ssize(lists)) {
      return out_of_range("level is ", level, ", but rt has ", counted(lists.size(), "list", "lists"), " of row splits")
          .at("level");
    }
    set_view(*given, lists[static_cast<std::size_t>(level)]);
    return given.give();
  });
}

int32_t backslice_ragged_values(const backslice_ragged* rt, backslice_view* view) {
  return guarded([&] {
    StructOut given(view, "view");
    set_view(*given, get(rt, "rt").values());
    return given.give();
  });
}

int32_t backslice_ragged_slice(const backslice_ragged* rt, const backslice_selection* rows,
                               const backslice_context* context, backslice_ragged** out) {
  return guarded([&] {
    not_null(out, "out");
    const CallContext call(context);
    return give(out, unwrap(ragged_slice(get(rows, "rows"), get(rt, "rt"), call)));
  });
}

int32_t backslice_ragged_slice_size(const backslice_ragged* rt, const backslice_selection* rows,
                                    const backslice_context* context, backslice_ragged_size* size) {
  return guarded([&] {
    StructOut given(size, "size");
    const CallContext call(context);
    return set_size(given, unwrap(ragged_slice_size(get(rows, "rows"), get(rt, "rt"), call)));
  });
}

int32_t backslice_ragged_slice_into(const backslice_ragged* rt, const backslice_selection* rows,
                                    const backslice_view* out_splits, int32_t count, const backslice_view* out_values,
                                    const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return named::ragged_slice_into(get(rows, "rows"), get(rt, "rt"), ragged_view_of(out_splits, count, out_values),
                                    kOutputNames, call);
  });
}

int32_t backslice_ragged_slice_grad_into(const backslice_ragged* rt, const backslice_selection* rows,
                                         const backslice_view* dy, const backslice_view* out, int32_t write,
                                         const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return ragged_slice_grad_into(get(rows, "rows"), get(rt, "rt"), input_of(dy, "dy"), view_of(out, "out"),
                                  write_of(write), call);
  });
}
