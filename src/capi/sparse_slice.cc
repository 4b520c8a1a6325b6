#include "backslice/sparse_slice.h"

#include "backslice/c/sparse_slice.h"
#include "capi/context.h"
#include "capi/structs.h"

using namespace backslice;
using namespace backslice::capi;

namespace {

CooIndices indices_of(const backslice_coo_indices* indices, const char* argument) {
  const backslice_coo_indices given = given_struct(indices, argument);
  const bool columns = flag_of(given.is_columns, {argument, "is_columns"});
  if (given.count < 0 || given.count > BACKSLICE_MAX_RANK || (!columns && given.count != 1)) {
    refuse(invalid_argument(argument, ".count is ", given.count, ", expected ",
                            columns ? "0 to 32 columns" : "1 matrix, or is_columns to be 1")
               .at(argument));
  }
  if (given.count > 0 && given.arrays == nullptr) {
    refuse(invalid_argument(argument, ".arrays is NULL, but the count is ", given.count).at(argument));
  }
  std::vector<ConstView> views;
  for (std::int32_t i = 0; i < given.count; ++i) views.push_back(input_of(element(given.arrays, i), {argument, i}));
  return unwrap(columns ? CooIndices::from_columns(views, argument) : CooIndices::from_matrix(views[0], argument));
}

MatchOrder order_of(std::int32_t number) {
  if (number == BACKSLICE_IN_ORDER) return MatchOrder::InOrder;
  if (number == BACKSLICE_ANY_ORDER) return MatchOrder::Any;
  refuse(invalid_argument("order is ", number, ", expected BACKSLICE_IN_ORDER (0) or BACKSLICE_ANY_ORDER (1)")
             .at("order"));
}

}  // namespace

int32_t backslice_sparse_slice_count(const backslice_coo_indices* indices, backslice_ints start, backslice_ints size,
                                     const backslice_context* context, int64_t* count) {
  return guarded([&] {
    not_null(count, "count");
    const CallContext call(context);
    *count = unwrap(
        sparse_slice_count(indices_of(indices, "indices"), ints_of(start, "start"), ints_of(size, "size"), call));
    return Status();
  });
}

int32_t backslice_sparse_slice_into(const backslice_coo_indices* indices, const backslice_view* values,
                                    backslice_ints shape, backslice_ints start, backslice_ints size,
                                    const backslice_view* out_indices, const backslice_view* out_values,
                                    int64_t result_shape[BACKSLICE_MAX_RANK], const backslice_context* context) {
  return guarded([&] {
    not_null(result_shape, "result_shape");
    const CallContext call(context);
    const Shape sliced = unwrap(sparse_slice_into(
        indices_of(indices, "indices"), input_of(values, "values"), ints_of(shape, "shape"), ints_of(start, "start"),
        ints_of(size, "size"), view_of(out_indices, "out_indices"), view_of(out_values, "out_values"), call));
    std::copy(sliced.begin(), sliced.end(), result_shape);
    return Status();
  });
}

int32_t backslice_sparse_slice_grad_into(const backslice_view* backprop_val_grad,
                                         const backslice_coo_indices* input_indices, backslice_ints input_start,
                                         const backslice_coo_indices* output_indices, const backslice_view* out,
                                         int32_t order, int32_t write, const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return sparse_slice_grad_into(input_of(backprop_val_grad, "backprop_val_grad"),
                                  indices_of(input_indices, "input_indices"), ints_of(input_start, "input_start"),
                                  indices_of(output_indices, "output_indices"), view_of(out, "out"), order_of(order),
                                  write_of(write), call);
  });
}

int32_t backslice_sparse_slice_grad_by_size_into(const backslice_view* grad, const backslice_coo_indices* input_indices,
                                                 backslice_ints start, backslice_ints size, const backslice_view* out,
                                                 int32_t write, const backslice_context* context) {
  return guarded([&] {
    const CallContext call(context);
    return sparse_slice_grad_by_size_into(input_of(grad, "grad"), indices_of(input_indices, "input_indices"),
                                          ints_of(start, "start"), ints_of(size, "size"), view_of(out, "out"),
                                          write_of(write), call);
  });
}
