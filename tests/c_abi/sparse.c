/* Slices of sparse tensors: count, fill, and the gradient in both orders and by size. */
#include "check.h"

static const int64_t kAt[] = {0, 1, 1, 0, 1, 2, 3, 1}; /* entries of a [4, 3] */
static const int64_t kEntries[] = {4, 2}, kFour[] = {4}, kTwo[] = {2}, kTwoByTwo[] = {2, 2};
static const float kValues[] = {1, 2, 3, 4};

static backslice_coo_indices matrix(const backslice_view* indices) {
  backslice_coo_indices made = BACKSLICE_COO_INDICES_INIT;
  made.arrays = indices;
  return made;
}

static void counts_and_fills(void) {
  const backslice_view at = numbers(kAt, LIST(kEntries)), values = floats(kValues, LIST(kFour));
  const backslice_coo_indices indices = matrix(&at);
  int64_t count = 0, taken[4], shape[BACKSLICE_MAX_RANK];
  float kept[2];
  CHECK_OK(backslice_sparse_slice_count(&indices, INTS(1, 0), INTS(2, 5), NULL, &count));
  CHECK(count == 2);
  const backslice_view out_indices = numbers(taken, LIST(kTwoByTwo)), out_values = floats(kept, LIST(kTwo));
  CHECK_OK(backslice_sparse_slice_into(&indices, &values, INTS(4, 3), INTS(1, 0), INTS(2, 5), &out_indices, &out_values,
                                       shape, NULL));
  CHECK(shape[0] == 2 && shape[1] == 3 && kept[0] == 2 && kept[1] == 3);
  CHECK_SAME(taken, ((const int64_t[]){0, 0, 0, 2}));
}

static void gradients(void) {
  const int64_t rows[] = {0, 1, 1, 3}, columns[] = {1, 0, 2, 1}, sliced[] = {0, 0, 0, 2}, swapped[] = {0, 2, 0, 0};
  const backslice_view both[] = {numbers(rows, LIST(kFour)), numbers(columns, LIST(kFour))};
  const backslice_view in_order = numbers(sliced, LIST(kTwoByTwo)), any = numbers(swapped, LIST(kTwoByTwo));
  const backslice_coo_indices output = matrix(&in_order), other = matrix(&any);
  backslice_coo_indices input = BACKSLICE_COO_INDICES_INIT;
  input.arrays = both;
  input.count = 2;
  input.is_columns = 1;
  float dvalues[4];
  const backslice_view grad = floats(kValues, LIST(kTwo)), out = floats(dvalues, LIST(kFour));
  CHECK_OK(backslice_sparse_slice_grad_into(&grad, &input, INTS(1, 0), &output, &out, BACKSLICE_IN_ORDER,
                                            BACKSLICE_OVERWRITE, NULL));
  CHECK_SAME(dvalues, ((const float[]){0, 1, 2, 0}));
  CHECK(backslice_sparse_slice_grad_into(&grad, &input, INTS(1, 0), &other, &out, BACKSLICE_IN_ORDER,
                                         BACKSLICE_OVERWRITE, NULL) == BACKSLICE_INTERNAL);
  CHECK_OK(backslice_sparse_slice_grad_into(&grad, &input, INTS(1, 0), &other, &out, BACKSLICE_ANY_ORDER,
                                            BACKSLICE_OVERWRITE, NULL));
  CHECK_SAME(dvalues, ((const float[]){0, 2, 1, 0}));
  CHECK_OK(backslice_sparse_slice_grad_by_size_into(&grad, &input, INTS(1, 0), INTS(2, 5), &out, BACKSLICE_ACCUMULATE,
                                                    NULL));
  CHECK_SAME(dvalues, ((const float[]){0, 3, 3, 0}));
}

static void indices_that_do_not_hold_together(void) {
  int64_t count = 0;
  const backslice_view at = numbers(kAt, LIST(kEntries));
  backslice_coo_indices indices = matrix(&at);
  indices.count = 2;
  CHECK_FAILS(backslice_sparse_slice_count(&indices, INTS(1, 0), INTS(2, 5), NULL, &count), BACKSLICE_INVALID_ARGUMENT,
              "indices.count is 2");
  indices.is_columns = 5;
  CHECK_FAILS(backslice_sparse_slice_count(&indices, INTS(1, 0), INTS(2, 5), NULL, &count), BACKSLICE_INVALID_ARGUMENT,
              "indices.is_columns is 5");
  indices = matrix(NULL);
  CHECK_FAILS(backslice_sparse_slice_count(&indices, INTS(1, 0), INTS(2, 5), NULL, &count), BACKSLICE_INVALID_ARGUMENT,
              "indices.arrays is NULL");
  indices = matrix(&at);
  CHECK_FAILS(backslice_sparse_slice_count(&indices, INTS(1), INTS(2, 5), NULL, &count), BACKSLICE_INVALID_ARGUMENT,
              "start");
}

int main(void) {
  counts_and_fills();
  gradients();
  indices_that_do_not_hold_together();
  return 0;
}
