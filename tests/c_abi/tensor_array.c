/* Tensor arrays: writing by copy and by sharing, reading into memory of ours, gradients. */
#include "check.h"

static const float kRows[] = {1, 2, 3, 4, 5, 6}; /* [3, 2] */
static const int64_t kThreeByTwo[] = {3, 2}, kTwo[] = {2}, kSix[] = {6};

static int released;
static void count_release(void* user) {
  CHECK(user == &released);
  ++released;
}

static backslice_tensor_array* make(int64_t size) {
  backslice_tensor_array_options options = BACKSLICE_TENSOR_ARRAY_OPTIONS_INIT;
  backslice_tensor_array* array = NULL;
  options.name = text("steps");
  options.clear_after_read = 0;
  CHECK_OK(backslice_tensor_array_make(size, BACKSLICE_FLOAT32, &options, NULL, &array));
  return array;
}

static void check_rows(backslice_tensor_array* array, const float* expected) {
  int64_t shape[BACKSLICE_MAX_RANK];
  int32_t rank = 0;
  float stacked[6] = {0};
  const backslice_view out = floats(stacked, LIST(kThreeByTwo));
  CHECK_OK(backslice_tensor_array_stack_shape(array, shape, &rank, NULL));
  CHECK(rank == 2 && shape[0] == 3 && shape[1] == 2);
  CHECK_OK(backslice_tensor_array_stack_into(array, &out, NULL));
  CHECK(memcmp(stacked, expected, sizeof(stacked)) == 0);
}

static void copies_what_is_written(void) {
  backslice_tensor_array* array = make(3);
  float row[2];
  const backslice_view value = floats(row, LIST(kTwo));
  for (int i = 0; i < 3; ++i) {
    memcpy(row, kRows + 2 * i, sizeof(row));
    CHECK_OK(backslice_tensor_array_write(array, i, &value, NULL));
  }
  check_rows(array, kRows);
  CHECK(backslice_tensor_array_write(array, 9, &value, NULL) == BACKSLICE_INVALID_ARGUMENT);
  backslice_free(array);
}

/* Options as programs have them that were compiled before there was any_device; and any_device. */
static void options_that_grew(void) {
  backslice_tensor_array_options options = BACKSLICE_TENSOR_ARRAY_OPTIONS_INIT;
  backslice_tensor_array *older = NULL, *any = NULL, *none = NULL;
  const backslice_view row = floats(kRows, LIST(kTwo));
  int32_t device_type = 0, device_id = -1;
  options.any_device = 7; /* which is not looked at */
  options.struct_size = offsetof(backslice_tensor_array_options, any_device);
  CHECK_OK(backslice_tensor_array_make(1, BACKSLICE_FLOAT32, &options, NULL, &older));
  options.struct_size = sizeof(options);
  CHECK_FAILS(backslice_tensor_array_make(1, BACKSLICE_FLOAT32, &options, NULL, &none), BACKSLICE_INVALID_ARGUMENT,
              "any_device is 7, expected 0 or 1");
  options.any_device = 1;
  CHECK_OK(backslice_tensor_array_make(1, BACKSLICE_FLOAT32, &options, NULL, &any));
  CHECK_OK(backslice_tensor_array_write(any, 0, &row, NULL));
  CHECK_OK(backslice_tensor_array_device(any, &device_type, &device_id));
  CHECK(device_type == BACKSLICE_CPU && device_id == 0);
  options.contiguous = 1;
  CHECK_FAILS(backslice_tensor_array_make(1, BACKSLICE_FLOAT32, &options, NULL, &none), BACKSLICE_INVALID_ARGUMENT,
              "any_device");
  backslice_free(older);
  backslice_free(any);
}

static void shares_and_releases(void) {
  backslice_tensor_array* array = make(3);
  const backslice_view row = floats(kRows, LIST(kTwo));
  released = 0;
  CHECK_OK(backslice_tensor_array_write_shared(array, 1, &row, count_release, &released, NULL));
  CHECK(backslice_tensor_array_write_shared(array, 1, &row, count_release, &released, NULL) != BACKSLICE_OK);
  CHECK(released == 0);
  backslice_free(array);
  CHECK(released == 1);
}

/* Uses the array that lets go of the memory. */
static backslice_tensor_array* letting_go;
static void use_the_array(void* user) {
  int64_t size = 0;
  const backslice_view row = floats(kRows, LIST(kTwo));
  CHECK_OK(backslice_tensor_array_size(letting_go, &size));
  CHECK_OK(backslice_tensor_array_write(letting_go, 0, &row, NULL));
  *(int64_t*)user = size;
}

static void releasing_may_call_backslice(void) {
  int64_t seen = 0;
  float out[2];
  const backslice_view row = floats(kRows, LIST(kTwo)), into = floats(out, LIST(kTwo));
  CHECK_OK(backslice_tensor_array_make(3, BACKSLICE_FLOAT32, NULL, NULL, &letting_go));
  CHECK_OK(backslice_tensor_array_write_shared(letting_go, 1, &row, use_the_array, &seen, NULL));
  CHECK_OK(backslice_tensor_array_read_into(letting_go, 1, &into, NULL)); /* and so lets go of it */
  CHECK(seen == 3);
  CHECK_OK(backslice_tensor_array_read_into(letting_go, 0, &into, NULL));
  backslice_free(letting_go);
}

static void whole_tensors(void) {
  const backslice_view rows = floats(kRows, LIST(kThreeByTwo)), flat = floats(kRows, LIST(kSix));
  const int64_t order[] = {2, 0, 1}, lengths[] = {1, 2, 3};
  const float reordered[] = {3, 4, 5, 6, 1, 2};
  backslice_tensor_array *a = make(3), *b = make(3), *c = make(3), *shared[3] = {make(3), make(3), make(3)};
  CHECK_OK(backslice_tensor_array_unstack(a, &rows, NULL));
  check_rows(a, kRows);
  CHECK_OK(backslice_tensor_array_scatter(b, LIST(order), &rows, NULL));
  check_rows(b, reordered);
  CHECK_OK(backslice_tensor_array_split(c, &flat, LIST(lengths), NULL));
  released = 0;
  CHECK_OK(backslice_tensor_array_unstack_shared(shared[0], &rows, count_release, &released, NULL));
  CHECK_OK(backslice_tensor_array_scatter_shared(shared[1], LIST(order), &rows, count_release, &released, NULL));
  CHECK_OK(backslice_tensor_array_split_shared(shared[2], &flat, LIST(lengths), count_release, &released, NULL));
  check_rows(shared[0], kRows);

  int64_t shape[BACKSLICE_MAX_RANK], found[3];
  int32_t rank = 0;
  float out[6];
  const backslice_view all = floats(out, LIST(kSix)), three = floats(out, LIST(kThreeByTwo)),
                       one = floats(out, LIST(kTwo));
  CHECK_OK(backslice_tensor_array_concat_shape(c, NO_INTS, shape, &rank, NULL));
  CHECK(rank == 1 && shape[0] == 6);
  CHECK_OK(backslice_tensor_array_concat_into(c, &all, found, 3, NO_INTS, NULL));
  CHECK_SAME(out, kRows);
  CHECK_SAME(found, lengths);
  CHECK_FAILS(backslice_tensor_array_concat_into(c, &all, NULL, 3, NO_INTS, NULL), BACKSLICE_INVALID_ARGUMENT,
              "lengths");
  CHECK_OK(backslice_tensor_array_gather_shape(b, LIST(order), NO_INTS, shape, &rank, NULL));
  CHECK(rank == 2 && shape[0] == 3);
  CHECK_OK(backslice_tensor_array_gather_into(b, LIST(order), &three, NO_INTS, NULL));
  CHECK_SAME(out, kRows);
  CHECK_OK(backslice_tensor_array_read_shape(b, 0, shape, &rank, NULL));
  CHECK(rank == 1 && shape[0] == 2);
  CHECK_OK(backslice_tensor_array_read_into(b, 0, &one, NULL));
  CHECK(out[0] == 3 && out[1] == 4);
  void* handles[] = {a, b, c, shared[0], shared[1], shared[2]};
  for (int i = 0; i < 6; ++i) backslice_free(handles[i]);
  CHECK(released == 3);
}

static void gradients(void) {
  backslice_tensor_array *array = make(3), *grad = NULL, *same = NULL, *taller = NULL, *none = array;
  const backslice_view rows = floats(kRows, LIST(kThreeByTwo));
  const float twice[] = {2, 4, 6, 8, 10, 12};
  backslice_string name;
  int32_t rank = 0, flag = 0;
  int64_t shape[BACKSLICE_MAX_RANK];
  CHECK_OK(backslice_tensor_array_unstack(array, &rows, NULL));
  CHECK_OK(backslice_tensor_array_find_grad(array, text("loss"), &none));
  CHECK(none == NULL);
  CHECK_OK(backslice_tensor_array_grad(array, text("loss"), NULL, &grad));
  CHECK_OK(backslice_tensor_array_unstack(grad, &rows, NULL));
  CHECK_OK(backslice_tensor_array_find_grad(array, text("loss"), &same));
  CHECK_OK(backslice_tensor_array_unstack(same, &rows, NULL));
  check_rows(grad, twice);
  CHECK_OK(backslice_tensor_array_name(grad, &name));
  CHECK(name.size == 10 && memcmp(name.data, "steps@loss", 10) == 0);
  CHECK_OK(backslice_tensor_array_is_gradient(grad, &flag));
  CHECK(flag == 1);
  CHECK_OK(backslice_tensor_array_grad_with_shape(array, text("tall"), INTS(7), NULL, &taller));
  CHECK_OK(backslice_tensor_array_element_shape(taller, shape, &rank));
  CHECK(rank == -1 || shape[0] == 7);
  void* handles[] = {array, grad, same, taller};
  for (int i = 0; i < 4; ++i) backslice_free(handles[i]);
}

static void options_and_state(void) {
  backslice_tensor_array_options options = BACKSLICE_TENSOR_ARRAY_OPTIONS_INIT;
  backslice_tensor_array* array = NULL;
  int64_t size = 0, shape[BACKSLICE_MAX_RANK];
  int32_t dtype = 0, rank = 0, closed = -1;
  options.element_shape = INTS(-1, 2);
  options.dynamic_size = 1;
  CHECK_OK(backslice_tensor_array_make(4, BACKSLICE_INT8, &options, NULL, &array));
  CHECK_OK(backslice_tensor_array_size(array, &size));
  CHECK_OK(backslice_tensor_array_dtype(array, &dtype));
  CHECK_OK(backslice_tensor_array_element_shape(array, shape, &rank));
  CHECK(size == 4 && dtype == BACKSLICE_INT8 && rank == 2 && shape[0] == -1 && shape[1] == 2);
  CHECK_OK(backslice_tensor_array_is_closed(array, &closed));
  CHECK(closed == 0);
  CHECK_OK(backslice_tensor_array_close(array));
  CHECK_OK(backslice_tensor_array_is_closed(array, &closed));
  CHECK(closed == 1);
  CHECK(backslice_tensor_array_size(array, &size) != BACKSLICE_OK);
  backslice_free(array);
  options.contiguous = 3;
  CHECK_FAILS(backslice_tensor_array_make(4, BACKSLICE_INT8, &options, NULL, &array), BACKSLICE_INVALID_ARGUMENT,
              "contiguous is 3");
}

int main(void) {
  options_that_grew();
  copies_what_is_written();
  shares_and_releases();
  releasing_may_call_backslice();
  whole_tensors();
  gradients();
  options_and_state();
  return 0;
}
