#include "backslice/ragged_variant.h"

#include "backslice/c/ragged_variant.h"
#include "capi/context.h"
#include "capi/handles.h"
#include "capi/ragged_arguments.h"
#include "ragged/named.h"

using namespace backslice;
using namespace backslice::capi;

namespace {

FromVariantTypes types_of(const backslice_variant_types* types) {
  FromVariantTypes made;
  if (types == nullptr) return made;
  const backslice_variant_types given = given_struct(types, "types");
  if (given.values != -1) {
    made.values = ValuesType(dtype_from(given.values, {"types", "values"}),
                             item_size_from(given.item_size, {"types", "item_size"}));
  }
  if (given.splits != -1) made.splits = dtype_from(given.splits, {"types", "splits"});
  return made;
}

using Piece = VariantArray::Piece;

// How many elements a shape has; -1 where it is not one, or has too many.
std::int64_t elements_of(const backslice_view& view) {
  if (view.rank < 0 || view.rank > BACKSLICE_MAX_RANK || (view.rank > 0 && view.shape == nullptr)) return -1;
  std::int64_t elements = 1;
  for (std::int32_t axis = 0; axis < view.rank; ++axis) {
    if (view.shape[axis] < 0 || __builtin_mul_overflow(elements, view.shape[axis], &elements)) return -1;
  }
  return elements;
}

// A view without gaps. There may be millions of them: those with nothing special about them are looked at without
// making a layout. Everything else, errors included, is what view_of says of it.
std::optional<Piece> piece_of(const backslice_view* piece, const Argument& argument) {
  const backslice_view given = given_struct(piece, argument);
  const DType dtype = dtype_from(given.dtype, argument, ".dtype");
  const bool is_plain = given.strides == nullptr && given.item_size == 0 && dtype != DType::Bytes &&
                        given.device_type == BACKSLICE_CPU && given.device_id == 0;
  const std::int64_t elements = is_plain ? elements_of(given) : -1;
  constexpr std::int64_t kMany = std::int64_t{1} << 56;  // so that their bytes can be counted
  if (elements >= 0 && elements <= kMany && (elements == 0 || given.data != nullptr)) {
    return Piece{static_cast<const std::byte*>(given.data), elements, false, dtype, item_size(dtype)};
  }
  const View view = view_of(piece, argument);
  if (!is_contiguous(view.layout)) return std::nullopt;
  return Piece{view.data, view.elements(), false, view.dtype, view.layout.item_size, view.device};
}

// Dense pieces; nothing where one of them has gaps.
std::optional<std::vector<Piece>> plain_pieces_of(const backslice_view* pieces, const uint8_t* missing,
                                                  std::int64_t count) {
  std::vector<Piece> made(items(pieces, count, "pieces", "piece_count").size());
  for (std::int64_t i = 0; i < count; ++i) {
    if (missing != nullptr && missing[i] != 0) continue;
    const auto piece = piece_of(element(pieces, i), {"pieces", i});
    if (!piece) return std::nullopt;
    made[static_cast<std::size_t>(i)] = *piece;
  }
  return made;
}

// The same as an array of variants, which copies pieces with gaps.
VariantArray pieces_of(const backslice_view* pieces, const uint8_t* missing, std::int64_t count, const Context& call) {
  std::vector<std::optional<RaggedTensor>> elements(static_cast<std::size_t>(count));
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
    auto element = unwrap(get(array, "array").at(i, call));
    if (element) return give(out, *std::move(element));
    *out = nullptr;
    return Status();
  });
}

int32_t backslice_variant_array_element_size(const backslice_variant_array* array, int64_t i,
                                             const backslice_context* context, backslice_ragged_size* size) {
  return guarded([&] {
    StructOut given(size, "size");
    const CallContext call(context);
    return set_size(given, unwrap(get(array, "array").element_size(i, call)));
  });
}

int32_t backslice_variant_array_element_into(const backslice_variant_array* array, int64_t i,
                                             const backslice_view* out_splits, int32_t count,
                                             const backslice_view* out_values, const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return named::element_into(get(array, "array"), i, ragged_view_of(out_splits, count, out_values), kOutputNames,
                               call);
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
    return give(out, unwrap(ragged_tensor_from_variant(get(encoded, "encoded"), input_ragged_rank, output_ragged_rank,
                                                       types_of(types), call)));
  });
}

int32_t backslice_ragged_tensor_from_variant_size(const backslice_variant_array* encoded, int32_t input_ragged_rank,
                                                  int32_t output_ragged_rank, const backslice_variant_types* types,
                                                  const backslice_context* context, backslice_ragged_size* size) {
  return guarded([&] {
    StructOut given(size, "size");
    const CallContext call(context);
    return set_size(given, unwrap(ragged_tensor_from_variant_size(get(encoded, "encoded"), input_ragged_rank,
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
    return named::ragged_tensor_from_variant_into(get(encoded, "encoded"), input_ragged_rank, output_ragged_rank,
                                                  ragged_view_of(out_splits, count, out_values), kOutputNames,
                                                  types_of(types), call);
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
    return ragged_tensor_to_variant_gradient_into(
        get(encoded_ragged_grad, "encoded_ragged_grad"), borrowed(views_of(row_splits, count, "row_splits")),
        ints_of(dense_values_shape, "dense_values_shape"), view_of(out, "out"), write_of(write), call);
  });
}

int32_t backslice_ragged_pieces_gradient_into(const backslice_view* pieces, const uint8_t* missing, int64_t piece_count,
                                              const backslice_view* row_splits, int32_t count,
                                              backslice_ints dense_values_shape, const backslice_view* out,
                                              int32_t write, const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    const auto plain = plain_pieces_of(pieces, missing, piece_count);
    const std::vector<Tensor> splits = borrowed(views_of(row_splits, count, "row_splits"));
    const Ints shape = ints_of(dense_values_shape, "dense_values_shape");
    const View result = view_of(out, "out");
    if (plain) {
      return named::ragged_pieces_gradient_into(*plain, "pieces", splits, shape, result, write_of(write), call);
    }
    return named::ragged_tensor_to_variant_gradient_into(pieces_of(pieces, missing, piece_count, call), "pieces",
                                                         splits, shape, result, write_of(write), call);
  });
}
