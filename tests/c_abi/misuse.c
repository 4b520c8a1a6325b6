/* Whatever a program gets wrong is an error that says what, and nothing is lost. (python/tests/test_c_abi.py goes
 * through every pointer of every function.) */
#include "check.h"

static const int64_t kFour[] = {4};
static float data[4];

static void wrong_views(void) {
  backslice_selection* all = at(LIST(kFour), ":");
  const backslice_view good = floats(data, LIST(kFour));
  float other[4];
  const backslice_view out = floats(other, LIST(kFour));
  backslice_view bad = good;
  CHECK_FAILS(backslice_slice_into(all, NULL, &out, NULL), BACKSLICE_INVALID_ARGUMENT, "x is NULL");
  bad.data = NULL;
  CHECK_FAILS(backslice_slice_into(all, &bad, &out, NULL), BACKSLICE_INVALID_ARGUMENT, "x.data is NULL");
  bad = good, bad.shape = NULL;
  CHECK_FAILS(backslice_slice_into(all, &bad, &out, NULL), BACKSLICE_INVALID_ARGUMENT, "x.shape is NULL");
  bad = good, bad.rank = -1;
  CHECK_FAILS(backslice_slice_into(all, &bad, &out, NULL), BACKSLICE_INVALID_ARGUMENT, "x.rank is -1");
  bad = good, bad.rank = 33;
  CHECK_FAILS(backslice_slice_into(all, &bad, &out, NULL), BACKSLICE_INVALID_ARGUMENT, "x.rank is 33");
  bad = good, bad.dtype = 1000;
  CHECK_FAILS(backslice_slice_into(all, &bad, &out, NULL), BACKSLICE_INVALID_ARGUMENT, "x.dtype is 1000");
  CHECK(backslice_last_error_is_about_dtype() == 1);
  CHECK(strcmp(backslice_last_error_argument(), "x") == 0);
  bad = good, bad.dtype = 37; /* std::string */
  CHECK_FAILS(backslice_slice_into(all, &bad, &out, NULL), BACKSLICE_INVALID_ARGUMENT, "BACKSLICE_STRING");
  bad = good, bad.dtype = -1;
  CHECK(backslice_slice_into(all, &bad, &out, NULL) == BACKSLICE_INVALID_ARGUMENT);
  bad = good, bad.item_size = 3;
  CHECK_FAILS(backslice_slice_into(all, &bad, &out, NULL), BACKSLICE_INVALID_ARGUMENT, "x: item_size 3");
  for (int64_t size = -1; size > -3; --size) {
    char message[64];
    snprintf(message, sizeof(message), "item_size %d must be >= 0", (int)size);
    bad.item_size = size;
    CHECK_FAILS(backslice_slice_into(all, &bad, &out, NULL), BACKSLICE_INVALID_ARGUMENT, message);
    backslice_grad_buffer* none = NULL;
    CHECK_FAILS(backslice_grad_buffer_make(LIST(kFour), BACKSLICE_FLOAT32, size, NULL, &none),
                BACKSLICE_INVALID_ARGUMENT, message);
    CHECK(strcmp(backslice_last_error_argument(), "item_size") == 0);
  }
  backslice_free(all);
}

static void sizes_of_structs(void) {
  backslice_selection* all = at(LIST(kFour), ":");
  backslice_view zeroed, newer = floats(data, LIST(kFour));
  memset(&zeroed, 0, sizeof(zeroed));
  newer.struct_size += 8;
  const backslice_view out = floats(data, LIST(kFour));
  CHECK_FAILS(backslice_slice_into(all, &zeroed, &out, NULL), BACKSLICE_INVALID_ARGUMENT, "not initialised");
  CHECK_FAILS(backslice_slice_into(all, &newer, &out, NULL), BACKSLICE_INVALID_ARGUMENT, "newer backslice");
  backslice_context context = BACKSLICE_CONTEXT_INIT;
  context.struct_size = SIZE_MAX;
  CHECK_FAILS(backslice_slice_into(all, &out, &out, &context), BACKSLICE_INVALID_ARGUMENT, "context.struct_size");
  backslice_free(all);
}

static void wrong_lists(void) {
  backslice_selection* none = NULL;
  CHECK_FAILS(backslice_selection_all((backslice_ints){NULL, 2}, &none), BACKSLICE_INVALID_ARGUMENT,
              "shape.data is NULL");
  CHECK_FAILS(backslice_selection_all((backslice_ints){kFour, -2}, &none), BACKSLICE_INVALID_ARGUMENT,
              "shape.size is -2");
  CHECK_FAILS(backslice_selection_all((backslice_ints){kFour, INT64_MAX}, &none), BACKSLICE_INVALID_ARGUMENT, "shape");
  CHECK_FAILS(backslice_selection_from_index(LIST(kFour), (backslice_string){NULL, 3}, &none),
              BACKSLICE_INVALID_ARGUMENT, "index.data is NULL");
  CHECK_FAILS(backslice_selection_from_index(LIST(kFour), text("1:2:3:4"), &none), BACKSLICE_INVALID_ARGUMENT,
              "1:2:3:4");
  CHECK(none == NULL);
  CHECK_OK(backslice_selection_all(NO_INTS, &none)); /* a scalar */
  backslice_free(none);
}

static void places_of_errors(void) {
  backslice_selection* none = NULL;
  int64_t begin = -1, end = -1;
  CHECK(backslice_selection_from_index(INTS(4, 6), text("1:3, 9"), &none) == BACKSLICE_OUT_OF_RANGE);
  CHECK(strcmp(backslice_last_error_argument(), "index") == 0 && backslice_last_error_position() == 1);
  CHECK(backslice_last_error_span(&begin, &end) == 1 && begin == 5 && end == 6);
  CHECK(backslice_last_error_span(NULL, NULL) == 1);

  backslice_tf_slice spec = BACKSLICE_TF_SLICE_INIT;
  spec.begin = INTS(0, 0), spec.end = INTS(1, 1), spec.strides = INTS(1, 0);
  CHECK(backslice_selection_from_tf(INTS(4, 6), &spec, &none) == BACKSLICE_INVALID_ARGUMENT);
  CHECK(strcmp(backslice_last_error_argument(), "strides") == 0 && backslice_last_error_position() == 1);
  CHECK(backslice_last_error_span(&begin, &end) == 0 && begin == 5 && end == 6);

  /* About no entry: nothing is left of the error before. */
  CHECK(backslice_set_num_threads(0) == BACKSLICE_INVALID_ARGUMENT);
  CHECK(backslice_last_error_position() == -1 && backslice_last_error_span(&begin, &end) == 0);
}

static void wrong_handles(void) {
  backslice_selection* all = at(LIST(kFour), ":");
  CHECK_FAILS(backslice_grad_buffer_zero((backslice_grad_buffer*)all, NULL), BACKSLICE_INVALID_ARGUMENT,
              "buffer is a backslice_selection, expected a backslice_grad_buffer");
  CHECK_FAILS(backslice_grad_buffer_zero(NULL, NULL), BACKSLICE_INVALID_ARGUMENT, "buffer is NULL");
  backslice_free(NULL);
  backslice_free(all);
#ifndef NDEBUG
  int64_t shape[BACKSLICE_MAX_RANK];
  int32_t rank = 0;
  CHECK_FAILS(backslice_selection_shape(all, shape, &rank), BACKSLICE_INVALID_ARGUMENT, "it was freed");
  backslice_selection* other = at(LIST(kFour), "3");
  if (other != all) { /* whose place it might have taken */
    backslice_free(all);
    CHECK(strstr(backslice_last_error(), "it was freed") != NULL);
  }
  backslice_free(other);
  double no_handle[8] = {0};
  CHECK_FAILS(backslice_tensor_array_close((backslice_tensor_array*)no_handle), BACKSLICE_INVALID_ARGUMENT,
              "array is not a handle");
#endif
}

static void names_and_settings(void) {
  CHECK(strcmp(backslice_version(), BACKSLICE_EXPECTED_VERSION) == 0);
  CHECK(backslice_abi_version() == BACKSLICE_ABI_VERSION);
  CHECK(strcmp(backslice_code_name(BACKSLICE_INVALID_ARGUMENT), "InvalidArgument") == 0);
  CHECK(strcmp(backslice_code_name(-7), "Unknown") == 0 && strcmp(backslice_code_name(256), "Unknown") == 0);
  CHECK(strcmp(backslice_dtype_name(BACKSLICE_BFLOAT16), "bfloat16") == 0);
  CHECK(backslice_dtype_name(37) == NULL && backslice_dtype_name(-1) == NULL && backslice_dtype_name(999) == NULL);
  CHECK(backslice_dtype_from_name("float8_e5m2") == BACKSLICE_FLOAT8_E5M2);
  CHECK(backslice_dtype_from_name("float128") == -1 && backslice_dtype_from_name(NULL) == -1);
  CHECK(backslice_dtype_item_size(BACKSLICE_STRING) == sizeof(backslice_string));
  CHECK(backslice_dtype_item_size(BACKSLICE_COMPLEX128) == 16 && backslice_dtype_item_size(1000) == -1);
  CHECK_OK(backslice_set_num_threads(2));
  CHECK(backslice_num_threads() == 2);
  CHECK_FAILS(backslice_set_num_threads(0), BACKSLICE_INVALID_ARGUMENT, "0");
  CHECK(backslice_set_pool_limit(-1) == BACKSLICE_INVALID_ARGUMENT);
  CHECK_OK(backslice_set_pool_limit(1 << 20));
  CHECK_OK(backslice_trim_pool());
}

int main(void) {
  CHECK(strcmp(backslice_last_error(), "") == 0);
  CHECK(strcmp(backslice_last_error_argument(), "") == 0 && backslice_last_error_position() == -1);
  CHECK(backslice_last_error_span(NULL, NULL) == 0);
  wrong_views();
  sizes_of_structs();
  wrong_lists();
  places_of_errors();
  wrong_handles();
  names_and_settings();
  return 0;
}
