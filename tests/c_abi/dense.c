/* Slices of dense tensors in all dialects, prepared slices and many slices. */
#include "check.h"

static const float kX[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}; /* [3, 4] */
static const float kDy[4] = {1, 2, 3, 4};                           /* of x[1:3, ::2] */
static const float kDx[12] = {0, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0};
static const int64_t kShape[] = {3, 4}, kPart[] = {2, 2};

static backslice_tf_slice tf_slice(void) {
  static const int64_t begin[] = {1, 0}, end[] = {3, 4}, strides[] = {1, 2};
  backslice_tf_slice spec = BACKSLICE_TF_SLICE_INIT;
  spec.begin = LIST(begin);
  spec.end = LIST(end);
  spec.strides = LIST(strides);
  return spec;
}

static backslice_onnx_slice onnx_slice(void) {
  static const int64_t starts[] = {1, 0}, ends[] = {3, 4}, steps[] = {1, 2};
  backslice_onnx_slice spec = BACKSLICE_ONNX_SLICE_INIT;
  spec.starts = LIST(starts);
  spec.ends = LIST(ends);
  spec.steps = LIST(steps);
  return spec;
}

static void check_part(const int64_t* shape, int32_t rank) {
  CHECK(rank == 2);
  CHECK(memcmp(shape, kPart, sizeof(kPart)) == 0);
}

static void selections(void) {
  int64_t shape[BACKSLICE_MAX_RANK], result_axes[BACKSLICE_MAX_RANK];
  int32_t rank = -1;
  backslice_axis axes[BACKSLICE_MAX_RANK];
  const backslice_tf_slice tf = tf_slice();
  const backslice_onnx_slice onnx = onnx_slice();
  backslice_selection* made[4] = {at(LIST(kShape), "1:3, ::2"), NULL, NULL, NULL};
  CHECK_OK(backslice_selection_from_tf(LIST(kShape), &tf, &made[1]));
  CHECK_OK(backslice_selection_from_onnx(LIST(kShape), &onnx, &made[2]));
  CHECK_OK(backslice_selection_axes(made[0], axes, result_axes));
  CHECK_OK(backslice_selection_make(LIST(kShape), axes, (backslice_ints){result_axes, 2}, &made[3]));
  for (int i = 0; i < 4; ++i) {
    CHECK_OK(backslice_selection_shape(made[i], shape, &rank));
    CHECK(rank == 2 && shape[0] == 3 && shape[1] == 4);
    CHECK_OK(backslice_selection_result_shape(made[i], shape, &rank));
    check_part(shape, rank);
    CHECK_OK(backslice_selection_axes(made[i], axes, result_axes));
    CHECK(axes[0].start == 1 && axes[0].step == 1 && axes[0].count == 2);
    CHECK(axes[1].start == 0 && axes[1].step == 2 && axes[1].count == 2);
    CHECK(result_axes[0] == 0 && result_axes[1] == 1);
    backslice_free(made[i]);
  }
}

static void by_begin_and_size(void) {
  const int64_t begin[] = {1, 0}, size[] = {-1, 2}, beyond[] = {3, 2};
  int64_t shape[BACKSLICE_MAX_RANK];
  int32_t rank = 0;
  backslice_selection* corner = NULL;
  CHECK_OK(backslice_selection_from_begin_size(LIST(kShape), LIST(begin), LIST(size), &corner));
  CHECK_OK(backslice_selection_result_shape(corner, shape, &rank));
  check_part(shape, rank);
  backslice_free(corner);
  CHECK_FAILS(backslice_selection_from_begin_size(LIST(kShape), LIST(begin), LIST(beyond), &corner),
              BACKSLICE_INVALID_ARGUMENT, "Expected size[0] in [0, 2]");
}

static void restricted(void) {
  backslice_selection *rows = at(LIST(kShape), "1:3, ::2"), *inside = NULL, *dy = NULL;
  const backslice_range low[] = {{0, 2}, {0, 4}}, none[] = {{0, 1}, {0, 4}};
  int64_t shape[BACKSLICE_MAX_RANK];
  int32_t rank = 0;
  CHECK_OK(backslice_selection_restrict(rows, low, 2, &inside, &dy));
  CHECK_OK(backslice_selection_result_shape(inside, shape, &rank));
  CHECK(rank == 2 && shape[0] == 1 && shape[1] == 2);
  CHECK_OK(backslice_selection_shape(dy, shape, &rank));
  check_part(shape, rank);
  backslice_free(inside);
  backslice_free(dy);
  CHECK_OK(backslice_selection_restrict(rows, none, 2, &inside, &dy));
  CHECK(inside == NULL && dy == NULL);
  backslice_free(rows);
}

static void slices(void) {
  backslice_selection* rows = at(LIST(kShape), "1:3, ::2");
  float y[4], dx[12], sum[12];
  const backslice_view x = floats(kX, LIST(kShape)), dy = floats(kDy, LIST(kPart));
  const backslice_view y_out = floats(y, LIST(kPart)), dx_out = floats(dx, LIST(kShape));
  CHECK_OK(backslice_slice_into(rows, &x, &y_out, NULL));
  CHECK(y[0] == 4 && y[1] == 6 && y[2] == 8 && y[3] == 10);
  memset(dx, 0xff, sizeof(dx));
  CHECK_OK(backslice_slice_grad_into(rows, &dy, &dx_out, BACKSLICE_OVERWRITE, NULL));
  CHECK_SAME(dx, kDx);
  CHECK_OK(backslice_slice_grad_into(rows, &dy, &dx_out, BACKSLICE_ACCUMULATE, NULL));
  for (int i = 0; i < 12; ++i) sum[i] = 2 * kDx[i];
  CHECK_SAME(dx, sum);
  memset(dx, 0, sizeof(dx));
  CHECK_OK(backslice_slice_grad_into(rows, &dy, &dx_out, BACKSLICE_INTO_ZEROS, NULL));
  CHECK_SAME(dx, kDx);
  CHECK_FAILS(backslice_slice_grad_into(rows, &dy, &dx_out, 7, NULL), BACKSLICE_INVALID_ARGUMENT, "write is 7");
  backslice_free(rows);
}

static void dialects(void) {
  const backslice_tf_slice tf = tf_slice();
  const backslice_onnx_slice onnx = onnx_slice();
  int64_t shape[BACKSLICE_MAX_RANK];
  int32_t rank = 0;
  float y[4], dx[12];
  const backslice_view x = floats(kX, LIST(kShape)), dy = floats(kDy, LIST(kPart));
  const backslice_view y_out = floats(y, LIST(kPart)), dx_out = floats(dx, LIST(kShape));
  CHECK_OK(backslice_strided_slice_shape(LIST(kShape), &tf, shape, &rank));
  check_part(shape, rank);
  CHECK_OK(backslice_strided_slice_into(&x, &tf, &y_out, NULL));
  CHECK(y[0] == 4 && y[3] == 10);
  CHECK_OK(backslice_strided_slice_grad_into(LIST(kShape), &tf, &dy, &dx_out, BACKSLICE_OVERWRITE, NULL));
  CHECK_SAME(dx, kDx);
  CHECK_OK(backslice_onnx_slice_shape(LIST(kShape), &onnx, shape, &rank));
  check_part(shape, rank);
  CHECK_OK(backslice_onnx_slice_into(&x, &onnx, &y_out, NULL));
  CHECK(y[0] == 4 && y[3] == 10);
  memset(dx, 0xff, sizeof(dx));
  CHECK_OK(backslice_onnx_slice_grad_into(&dy, LIST(kShape), &onnx, &dx_out, BACKSLICE_OVERWRITE, NULL));
  CHECK_SAME(dx, kDx);
}

/* Lists that ONNX may leave out: an empty one that is given is another thing. */
static void lists_that_are_left_out(void) {
  static const int64_t nothing[1] = {0};
  backslice_onnx_slice spec = onnx_slice();
  int64_t shape[BACKSLICE_MAX_RANK];
  int32_t rank = 0;
  spec.steps = NO_INTS;
  CHECK_OK(backslice_onnx_slice_shape(LIST(kShape), &spec, shape, &rank));
  CHECK(shape[1] == 4);
  spec.axes = (backslice_ints){nothing, 0};
  CHECK(backslice_onnx_slice_shape(LIST(kShape), &spec, shape, &rank) == BACKSLICE_INVALID_ARGUMENT);
}

static void any_strides(void) {
  backslice_selection* rows = at(INTS(4), "::-1");
  float out[4];
  const int64_t four[] = {4}, backwards[] = {-4};
  backslice_view x = floats(kX + 3, LIST(four));
  const backslice_view y = floats(out, LIST(four));
  x.strides = backwards;
  CHECK_OK(backslice_slice_into(rows, &x, &y, NULL));
  CHECK_SAME(out, ((const float[]){0, 1, 2, 3}));
  backslice_free(rows);
}

static void prepared(void) {
  backslice_selection* rows = at(LIST(kShape), "1:3, ::2");
  backslice_prepared_slice *plain = NULL, *strided = NULL;
  float y[4], dx[24], twice[12];
  const int64_t gaps[] = {32, 8};
  const backslice_view x = floats(kX, LIST(kShape)), dy = floats(kDy, LIST(kPart));
  const backslice_view y_out = floats(y, LIST(kPart));
  backslice_view dx_out = floats(dx, LIST(kShape));
  CHECK_OK(backslice_prepared_slice_make(rows, BACKSLICE_FLOAT32, 0, &plain));
  CHECK_OK(backslice_prepared_slice_forward(plain, &x, &y_out, NULL));
  CHECK(y[0] == 4 && y[3] == 10);
  CHECK_OK(backslice_prepared_slice_gradient(plain, &dy, &dx_out, NULL));
  CHECK(memcmp(dx, kDx, sizeof(kDx)) == 0);
  CHECK_OK(backslice_prepared_slice_accumulate(plain, &dy, &dx_out, NULL));
  for (int i = 0; i < 12; ++i) twice[i] = 2 * kDx[i];
  CHECK(memcmp(dx, twice, sizeof(twice)) == 0);
  dx_out.strides = gaps;
  CHECK_OK(backslice_prepared_slice_make_for(rows, &dx_out, &dy, &strided));
  backslice_free(rows); /* prepared slices do not need it */
  CHECK_OK(backslice_prepared_slice_gradient(strided, &dy, &dx_out, NULL));
  for (int i = 0; i < 12; ++i) CHECK(dx[2 * i] == kDx[i]);
  CHECK_FAILS(backslice_prepared_slice_gradient(plain, &dy, &dx_out, NULL), BACKSLICE_INVALID_ARGUMENT, "out");
  backslice_free(plain);
  backslice_free(strided);
}

static void many(void) {
  backslice_selection* parts[] = {at(INTS(6), "0:4"), at(INTS(6), "2:6")};
  const backslice_selection* const* selections = (const backslice_selection* const*)parts;
  const int64_t four[] = {4}, six[] = {6};
  const backslice_view dys[] = {floats(kDy, LIST(four)), floats(kDy, LIST(four))};
  float dx[6];
  const backslice_view out = floats(dx, LIST(six));
  CHECK_OK(backslice_multi_slice_grad_into(LIST(six), selections, dys, 2, &out, BACKSLICE_OVERWRITE, NULL));
  CHECK_SAME(dx, ((const float[]){1, 2, 4, 6, 3, 4}));
  CHECK_FAILS(backslice_multi_slice_grad_into(LIST(six), selections, dys, -1, &out, BACKSLICE_OVERWRITE, NULL),
              BACKSLICE_INVALID_ARGUMENT, "count is -1");
  CHECK_OK(backslice_multi_slice_write_into(LIST(six), selections, dys, 2, &out, NULL));
  CHECK_SAME(dx, ((const float[]){1, 2, 1, 2, 3, 4}));
  CHECK_FAILS(backslice_multi_slice_write_into(LIST(four), selections, dys, 2, &out, NULL), BACKSLICE_INVALID_ARGUMENT,
              "out");
  backslice_free(parts[0]);
  backslice_free(parts[1]);
}

int main(void) {
  selections();
  by_begin_and_size();
  restricted();
  slices();
  dialects();
  lists_that_are_left_out();
  any_strides();
  prepared();
  many();
  return 0;
}
