/* What docs/c_abi.md shows. */
#include <backslice/c/backslice.h>
#include <stdio.h>
#include <stdlib.h>

static float memory[20];

/* A tensor of yours is a view: memory, element type, extents, and byte strides
 * where it has gaps. */
static backslice_view view_of(float* data, const int64_t* shape, int32_t rank) {
  backslice_view view = BACKSLICE_VIEW_INIT;
  view.data = data;
  view.dtype = BACKSLICE_FLOAT32;
  view.rank = rank;
  view.shape = shape;
  return view;
}

/* dx = dy where x[1:3, ::2] was taken from, zero elsewhere. */
static int32_t gradient(float* dy, float* dx) {
  const int64_t x_shape[] = {4, 5}, y_shape[] = {2, 3};
  const backslice_string index = {"1:3, ::2", 8};
  backslice_selection* selection = NULL;
  int32_t code = backslice_selection_from_index((backslice_ints){x_shape, 2},
                                                index, &selection);
  if (code != BACKSLICE_OK) return code;
  const backslice_view in = view_of(dy, y_shape, 2);
  const backslice_view out = view_of(dx, x_shape, 2);
  code = backslice_slice_grad_into(selection, &in, &out, BACKSLICE_OVERWRITE,
                                   NULL);
  backslice_free(selection);
  return code;
}

/* An executor runs every task once and returns when all have returned; this one
 * has no threads. */
static int32_t run_here(void* user, int64_t count,
                        void (*task)(void* arg, int64_t i), void* arg) {
  (void)user;
  for (int64_t i = 0; i < count; ++i) task(arg, i);
  return 0;
}

static int32_t zero(backslice_grad_buffer* buffer) {
  backslice_executor executor = BACKSLICE_EXECUTOR_INIT;
  backslice_context context = BACKSLICE_CONTEXT_INIT;
  executor.run = run_here;
  context.executor = &executor;
  return backslice_grad_buffer_zero(buffer, &context);
}

/* What was shared is given back when nothing needs it any more; where the call
 * fails, it is still yours. */
static void give_back(void* user) { free(user); }

static int32_t write(backslice_tensor_array* steps, int64_t index) {
  const int64_t shape[] = {1024};
  float* value = calloc(1024, sizeof(float));
  const backslice_view view = view_of(value, shape, 1);
  const int32_t code = backslice_tensor_array_write_shared(
      steps, index, &view, give_back, value, NULL);
  if (code != BACKSLICE_OK) free(value);
  return code;
}

int main(void) {
  float dy[] = {1, 2, 3, 4, 5, 6};
  if (gradient(dy, memory) != BACKSLICE_OK) {
    fprintf(stderr, "%s\n", backslice_last_error());
    return 1;
  }
  if (memory[5] != 1 || memory[7] != 2 || memory[14] != 6 || memory[0] != 0) return 1;

  const int64_t shape[] = {4, 5};
  backslice_grad_buffer* buffer = NULL;
  backslice_tensor_array* steps = NULL;
  int32_t code = backslice_grad_buffer_make((backslice_ints){shape, 2}, BACKSLICE_FLOAT32, 0, NULL, &buffer);
  if (code == BACKSLICE_OK) code = zero(buffer);
  if (code == BACKSLICE_OK) code = backslice_tensor_array_make(2, BACKSLICE_FLOAT32, NULL, NULL, &steps);
  if (code == BACKSLICE_OK) code = write(steps, 0);
  const int32_t past_the_end = code == BACKSLICE_OK ? write(steps, 2) : 0;
  backslice_free(buffer);
  backslice_free(steps);
  return code != BACKSLICE_OK || past_the_end == BACKSLICE_OK;
}
