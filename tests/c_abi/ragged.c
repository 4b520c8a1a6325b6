/* Ragged tensors, their slices, arrays of variants, and the gradients. */
#include <string.h>

#include "check.h"

static const float kValues[] = {1, 2, 3, 4, 5}; /* [[1, 2], [], [3, 4, 5]] */
static const int64_t kSplits[] = {0, 2, 2, 5};
static const int64_t kFive[] = {5}, kFour[] = {4}, kThree[] = {3};

static int released;
static void count_release(void* user) {
  CHECK(user == &released);
  ++released;
}

static backslice_ragged* make(void) {
  const backslice_view values = floats(kValues, LIST(kFive)), splits = numbers(kSplits, LIST(kFour));
  backslice_ragged* rt = NULL;
  CHECK_OK(backslice_ragged_make(&values, &splits, 1, count_release, &released, NULL, &rt));
  return rt;
}

static void check_flat(const backslice_ragged* rt, int32_t levels, const int64_t* splits, const float* values,
                       int64_t count) {
  backslice_view list = BACKSLICE_VIEW_INIT, flat = BACKSLICE_VIEW_INIT;
  int32_t rank = -1;
  CHECK_OK(backslice_ragged_rank(rt, &rank));
  CHECK(rank == levels);
  CHECK_OK(backslice_ragged_values(rt, &flat));
  CHECK(flat.shape[0] == count && memcmp(flat.data, values, (size_t)count * sizeof(float)) == 0);
  if (levels == 0) return;
  CHECK_OK(backslice_ragged_row_splits(rt, 0, &list));
  CHECK(memcmp(list.data, splits, (size_t)list.shape[0] * sizeof(int64_t)) == 0);
  CHECK_FAILS(backslice_ragged_row_splits(rt, levels, &list), BACKSLICE_OUT_OF_RANGE, "level");
}

static void makes_and_releases(void) {
  const int64_t lengths[] = {2, 0, 3}, wrong[] = {0, 2, 9};
  const backslice_view values = floats(kValues, LIST(kFive)), list = numbers(lengths, LIST(kThree));
  const backslice_view bad = numbers(wrong, LIST(kThree));
  backslice_ragged *rt = make(), *same = NULL;
  released = 0;
  CHECK_OK(backslice_ragged_from_row_lengths(&values, &list, 1, NULL, NULL, NULL, &same));
  check_flat(rt, 1, kSplits, kValues, 5);
  check_flat(same, 1, kSplits, kValues, 5);
  CHECK(backslice_ragged_make(&values, &bad, 1, count_release, &released, NULL, &same) == BACKSLICE_INVALID_ARGUMENT);
  CHECK(released == 0); /* nothing was taken */
  backslice_free(rt);
  CHECK(released == 1);
  backslice_free(same);
}

static void slices(void) {
  backslice_ragged *rt = make(), *taken = NULL;
  backslice_selection* rows = at(INTS(3), "::-2");
  backslice_ragged_size size = BACKSLICE_RAGGED_SIZE_INIT;
  const float expected[] = {3, 4, 5, 1, 2};
  const int64_t expected_splits[] = {0, 3, 5};
  int64_t splits[3];
  float values[5], dvalues[5];
  CHECK_OK(backslice_ragged_slice(rt, rows, NULL, &taken));
  check_flat(taken, 1, expected_splits, expected, 5);
  CHECK_OK(backslice_ragged_slice_size(rt, rows, NULL, &size));
  CHECK(size.ragged_rank == 1 && size.splits[0] == 3 && size.rank == 1 && size.values[0] == 5);
  CHECK(size.dtype == BACKSLICE_FLOAT32 && size.splits_dtype == BACKSLICE_INT64 && size.item_size == 4);
  const backslice_view out_splits = numbers(splits, LIST(kThree)), out_values = floats(values, LIST(kFive));
  CHECK_OK(backslice_ragged_slice_into(rt, rows, &out_splits, 1, &out_values, NULL));
  CHECK_SAME(splits, expected_splits);
  CHECK_SAME(values, expected);
  const backslice_view out = floats(dvalues, LIST(kFive));
  CHECK_OK(backslice_ragged_slice_grad_into(rt, rows, &out_values, &out, BACKSLICE_OVERWRITE, NULL));
  CHECK_SAME(dvalues, kValues);
  backslice_free(rows);
  backslice_free(taken);
  backslice_free(rt);
}

static void encodes_and_decodes(void) {
  backslice_ragged *rt = make(), *row = NULL, *back = NULL;
  backslice_variant_array *rows = NULL, *grid = NULL, *again = NULL;
  backslice_variant_types types = BACKSLICE_VARIANT_TYPES_INIT;
  backslice_ragged_size size = BACKSLICE_RAGGED_SIZE_INIT;
  int64_t shape[BACKSLICE_MAX_RANK], splits[4];
  int32_t rank = 0;
  float values[5];
  CHECK_OK(backslice_ragged_tensor_to_variant(rt, 1, &rows));
  backslice_free(rt); /* the rows keep it alive */
  CHECK_OK(backslice_variant_array_shape(rows, shape, &rank));
  CHECK(rank == 1 && shape[0] == 3);
  CHECK_OK(backslice_variant_array_at(rows, 2, NULL, &row));
  check_flat(row, 0, NULL, kValues + 2, 3);
  CHECK_OK(backslice_variant_array_element_size(rows, 0, NULL, &size));
  CHECK(size.ragged_rank == 0 && size.values[0] == 2);
  const int64_t two[] = {2};
  const backslice_view element = floats(values, LIST(two));
  CHECK_OK(backslice_variant_array_element_into(rows, 0, NULL, 0, &element, NULL));
  CHECK(values[0] == 1 && values[1] == 2);
  CHECK_OK(backslice_variant_array_reshape(rows, INTS(3, 1), &grid));
  types.values = BACKSLICE_FLOAT32;
  CHECK_OK(backslice_ragged_tensor_from_variant(rows, 0, 1, &types, NULL, &back));
  check_flat(back, 1, kSplits, kValues, 5);
  CHECK_OK(backslice_ragged_tensor_from_variant_size(rows, 0, 1, NULL, NULL, &size));
  CHECK(size.splits[0] == 4 && size.values[0] == 5);
  const backslice_view out_splits = numbers(splits, LIST(kFour)), out_values = floats(values, LIST(kFive));
  CHECK_OK(backslice_ragged_tensor_from_variant_into(rows, 0, 1, &out_splits, 1, &out_values, &types, NULL));
  CHECK_SAME(splits, kSplits);
  CHECK_SAME(values, kValues);
  CHECK_OK(backslice_ragged_tensor_from_variant_gradient(back, INTS(3), &again));
  types.values = BACKSLICE_INT8;
  backslice_ragged* wrong = NULL;
  CHECK(backslice_ragged_tensor_from_variant(rows, 0, 1, &types, NULL, &wrong) == BACKSLICE_INVALID_ARGUMENT);
  CHECK(backslice_last_error_is_about_dtype() == 1 && wrong == NULL);
  void* all[] = {row, back, rows, grid, again};
  for (int i = 0; i < 5; ++i) backslice_free(all[i]);
}

/* The last of three pieces, changed in one way after the other. */
static void refuses_pieces(backslice_view* pieces, const uint8_t* missing, const backslice_view* splits,
                           const backslice_view* out) {
  const int64_t six[] = {6}, negative[] = {-3}, overflowing[] = {INT64_MAX, 3}, large[] = {1000};
  const backslice_view last = pieces[2];
  backslice_view wrong[8] = {last, last, last, last, last, last, last, last};
  wrong[0].data = NULL;
  wrong[1].shape = negative;
  wrong[2].shape = overflowing;
  wrong[2].rank = 2;
  wrong[3].rank = 33;
  wrong[4].dtype = BACKSLICE_INT32;
  wrong[5].shape = large;
  wrong[6].struct_size = 1;
  wrong[7].device_type = BACKSLICE_CUDA; /* while out is on the CPU */
  for (int i = 0; i < 8; ++i) {
    pieces[2] = wrong[i];
    CHECK(backslice_ragged_pieces_gradient_into(pieces, missing, 3, splits, 1, LIST(six), out, BACKSLICE_OVERWRITE,
                                                NULL) == BACKSLICE_INVALID_ARGUMENT);
    CHECK(strstr(backslice_last_error(), i == 4 || i == 5 || i == 7 ? "piece 2" : "pieces[2]") != NULL);
  }
  pieces[2] = last;
}

static void gradients(void) {
  const int64_t two[] = {2}, one_two_three[] = {0, 2, 3, 6}, six[] = {6};
  const backslice_view first = floats(kValues, LIST(two)), last = floats(kValues + 2, LIST(kThree));
  const backslice_view splits = numbers(one_two_three, LIST(kFour));
  backslice_view pieces[3] = {first, BACKSLICE_VIEW_INIT, last};
  pieces[1].struct_size = 0; /* it is not looked at */
  const uint8_t missing[] = {0, 1, 0};
  float flat[6], same[6];
  backslice_view out = floats(flat, LIST(six));
  const int64_t backwards[] = {-4};
  pieces[2].data = (void*)(kValues + 4);
  pieces[2].strides = backwards;
  CHECK_OK(backslice_ragged_pieces_gradient_into(pieces, missing, 3, &splits, 1, LIST(six), &out, BACKSLICE_OVERWRITE,
                                                 NULL));
  CHECK_SAME(flat, ((const float[]){1, 2, 0, 5, 4, 3}));
  pieces[2] = last;
  refuses_pieces(pieces, missing, &splits, &out);
  CHECK_OK(backslice_ragged_pieces_gradient_into(pieces, missing, 3, &splits, 1, LIST(six), &out, BACKSLICE_OVERWRITE,
                                                 NULL));
  CHECK_SAME(flat, ((const float[]){1, 2, 0, 3, 4, 5}));

  backslice_ragged* elements[3] = {NULL, NULL, NULL};
  backslice_variant_array* encoded = NULL;
  CHECK_OK(backslice_ragged_make(&first, NULL, 0, NULL, NULL, NULL, &elements[0]));
  CHECK_OK(backslice_ragged_make(&last, NULL, 0, NULL, NULL, NULL, &elements[2]));
  CHECK_OK(backslice_variant_array_make((const backslice_ragged* const*)elements, 3, INTS(3), &encoded));
  backslice_ragged* nothing = elements[0];
  CHECK_OK(backslice_variant_array_at(encoded, 1, NULL, &nothing));
  CHECK(nothing == NULL);
  out.data = same;
  CHECK_OK(backslice_ragged_tensor_to_variant_gradient_into(encoded, &splits, 1, LIST(six), &out, BACKSLICE_OVERWRITE,
                                                            NULL));
  CHECK_SAME(flat, same);
  backslice_free(elements[0]);
  backslice_free(elements[2]);
  backslice_free(encoded);
}

int main(void) {
  makes_and_releases();
  slices();
  encodes_and_decodes();
  gradients();
  return 0;
}
