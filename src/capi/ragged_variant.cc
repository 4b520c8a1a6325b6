#include "backslice/ragged_variant.h"

#include "backslice/c/ragged_variant.h"
#include "capi/context.h"
#include "capi/handles.h"
#include "capi/ragged_arguments.h"

using namespace backslice;
using namespace backslice::capi;

namespace {

FromVariantTypes types_of(const backslice_variant_types* types) {
  FromVariantTypes made;
  if (types == nullptr) return made;
  const backslice_variant_types& given = checked_struct(types, "types");
  if (given.values != -1) made.values = ValuesType(dtype_from(given.values, {"types", "values"}), given.item_size);
  if (given.splits != -1) made.splits = dtype_from(given.splits, {"types", "splits"});
  return made;
}

// Dense pieces, nothing in the place of missing ones.
VariantArray pieces_of(const backslice_view* pieces, const uint8_t* missing, std::int64_t count, const Context& call) {
  std::vector<std::optional<RaggedTensor>> elements(items(pieces, count, "pieces", "piece_count").size());
  for (std::int64_t i = 0; i < count; ++i) {
    if (missing != nullptr && missing[i] != 0) continue;
    const View piece = view_of(pieces + i, {"pieces", i});
    elements[static_cast<std::size_t>(i)] = unwrap(RaggedTensor::make(borrowed(piece), {}, call));
  }
  return unwrap(VariantArray::make(std::move(elements), {count}));
}

}  // namespace

int32_t backslice_variant_array_make(const backslice_ragged* const* elements, int64_t count, backslice_ints shape,
                                     backslice_variant_array** out) {
  return guarded([&] {
    not_null(out, "out");
    std::vector<std::optional<RaggedTensor>> made(items(elements, count, "elements", "count").size());
    for (std::int64_t i = 0; i < count; ++i) {
      if (elements[i] != nullptr) made[static_cast<std::size_t>(i)] = get(elements[i], Argument("elements", i));
    }
    return give(out, unwrap(VariantArray::make(std::move(made), ints_of(shape, "shape"))));
  });
}

int32_t backslice_variant_array_shape(const backslice_variant_array* array, int64_t shape[BACKSLICE_MAX_RANK],
                                      int32_t* rank) {
  return guarded([&] { return ShapeOut(shape, "shape", rank, "rank").set(get(array, "array").shape()); });
}

int32_t backslice_variant_array_reshape(const backslice_variant_array* array, backslice_ints shape,
                                        backslice_variant_array** out) {
  return guarded([&] {
    not_null(out, "out");
    return give(out, unwrap(get(array, "array").reshape(ints_of(shape, "shape"))));
  });
}

int32_t backslice_variant_array_at(const backslice_variant_array* array, int64_t i, const backslice_context* context,
                                   backslice_ragged** out) {
  return guarded([&] {
    not_null(out, "out");
    const CallContext call(context);
    auto element = call.value(get(array, "array").at(i, call));
    if (element) return give(out, *std::move(element));
    *out = nullptr;
    return Status();
  });
}

int32_t backslice_variant_array_element_size(const backslice_variant_array* array, int64_t i,
                                             const backslice_context* context, backslice_ragged_size* size) {
  return guarded([&] {
    backslice_ragged_size& given = checked_struct(size, "size");
    const CallContext call(context);
    return set_size(given, call.value(get(array, "array").element_size(i, call)));
  });
}

int32_t backslice_variant_array_element_into(const backslice_variant_array* array, int64_t i,
                                             const backslice_view* out_splits, int32_t count,
                                             const backslice_view* out_values, const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return call.ended(get(array, "array").element_into(i, ragged_view_of(out_splits, count, out_values), call));
  });
}

int32_t backslice_ragged_tensor_to_variant(const backslice_ragged* rt, int32_t batched_input,
                                           backslice_variant_array** out) {
  return guarded([&] {
    not_null(out, "out");
    return give(out, unwrap(ragged_tensor_to_variant(get(rt, "rt"), flag_of(batched_input, "batched_input"))));
  });
}

int32_t backslice_ragged_tensor_from_variant(const backslice_variant_array* encoded, int32_t input_ragged_rank,
                                             int32_t output_ragged_rank, const backslice_variant_types* types,
                                             const backslice_context* context, backslice_ragged** out) {
  return guarded([&] {
    not_null(out, "out");
    const CallContext call(context);
    return give(out, call.value(ragged_tensor_from_variant(get(encoded, "encoded"), input_ragged_rank,
                                                           output_ragged_rank, types_of(types), call)));
  });
}

int32_t backslice_ragged_tensor_from_variant_size(const backslice_variant_array* encoded, int32_t input_ragged_rank,
                                                  int32_t output_ragged_rank, const backslice_variant_types* types,
                                                  const backslice_context* context, backslice_ragged_size* size) {
  return guarded([&] {
    backslice_ragged_size& given = checked_struct(size, "size");
    const CallContext call(context);
    return set_size(given, call.value(ragged_tensor_from_variant_size(get(encoded, "encoded"), input_ragged_rank,
                                                                      output_ragged_rank, types_of(types), call)));
  });
}

int32_t backslice_ragged_tensor_from_variant_into(const backslice_variant_array* encoded, int32_t input_ragged_rank,
                                                  int32_t output_ragged_rank, const backslice_view* out_splits,
                                                  int32_t count, const backslice_view* out_values,
                                                  const backslice_variant_types* types,
                                                  const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return call.ended(ragged_tensor_from_variant_into(get(encoded, "encoded"), input_ragged_rank, output_ragged_rank,
                                                      ragged_view_of(out_splits, count, out_values), types_of(types),
                                                      call));
  });
}

int32_t backslice_ragged_tensor_from_variant_gradient(const backslice_ragged* decoded, backslice_ints encoded_shape,
                                                      backslice_variant_array** out) {
  return guarded([&] {
    not_null(out, "out");
    return give(out, unwrap(ragged_tensor_from_variant_gradient(get(decoded, "decoded"),
                                                                ints_of(encoded_shape, "encoded_shape"))));
  });
}

int32_t backslice_ragged_tensor_to_variant_gradient_into(const backslice_variant_array* encoded_ragged_grad,
                                                         const backslice_view* row_splits, int32_t count,
                                                         backslice_ints dense_values_shape, const backslice_view* out,
                                                         int32_t write, const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return call.ended(ragged_tensor_to_variant_gradient_into(
        get(encoded_ragged_grad, "encoded_ragged_grad"), borrowed(views_of(row_splits, count, "row_splits")),
        ints_of(dense_values_shape, "dense_values_shape"), view_of(out, "out"), write_of(write), call));
  });
}

int32_t backslice_ragged_pieces_gradient_into(const backslice_view* pieces, const uint8_t* missing, int64_t piece_count,
                                              const backslice_view* row_splits, int32_t count,
                                              backslice_ints dense_values_shape, const backslice_view* out,
                                              int32_t write, const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return call.ended(ragged_tensor_to_variant_gradient_into(
        pieces_of(pieces, missing, piece_count, call), borrowed(views_of(row_splits, count, "row_splits")),
        ints_of(dense_values_shape, "dense_values_shape"), view_of(out, "out"), write_of(write), call));
  });
}
