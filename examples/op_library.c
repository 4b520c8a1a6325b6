/* An op library behind the C interface: plain functions on plain memory, which
 * a framework, or any language that can call C, registers as its own.
 *
 * The op is a crop of images, y = x[:, top:top+h, left:left+w, :], with its
 * gradient. The op is made once, for one shape, and runs on the host's threads.
 * Errors are text of the host's. No header of backslice is needed to call it.
 */
#include <backslice/c/backslice.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- What the host sees: this would be crop.h */

typedef struct crop_op crop_op;

/* Runs task(arg, 0) ... task(arg, count - 1), and returns when all have. */
typedef void (*crop_parallel_for)(void* pool, int64_t count,
                                  void (*task)(void* arg, int64_t i),
                                  void* arg);
typedef struct crop_host {
  crop_parallel_for parallel_for;
  void* pool;
  int threads;
  char error[256]; /* set where a function returns 0 */
} crop_host;

crop_op* crop_make(crop_host* host, const int64_t image[4], int64_t top,
                   int64_t left, int64_t height, int64_t width);
int crop_forward(const crop_op* op, crop_host* host, const float* x, float* y);
int crop_backward(const crop_op* op, crop_host* host, const float* dy,
                  float* dx);
void crop_free(crop_op* op);

/* -- How it is done */

struct crop_op {
  backslice_prepared_slice* slice;
  int64_t x_shape[4], y_shape[4];
};

/* Turns an error of backslice's into one of the host's. */
static int succeeded(int32_t code, crop_host* host) {
  if (code == BACKSLICE_OK) return 1;
  snprintf(host->error, sizeof(host->error), "%s: %s",
           backslice_code_name(code), backslice_last_error());
  return 0;
}

static int32_t run_on_host(void* user, int64_t count,
                           void (*task)(void* arg, int64_t i), void* arg) {
  const crop_host* host = user;
  host->parallel_for(host->pool, count, task, arg);
  return 0;
}

static backslice_view view_of(const float* data, const int64_t shape[4]) {
  backslice_view view = BACKSLICE_VIEW_INIT;
  view.data = (void*)data;
  view.dtype = BACKSLICE_FLOAT32;
  view.rank = 4;
  view.shape = shape;
  return view;
}

crop_op* crop_make(crop_host* host, const int64_t image[4], int64_t top,
                   int64_t left, int64_t height, int64_t width) {
  const int64_t begin[] = {0, top, left, 0}, size[] = {-1, height, width, -1};
  crop_op* op = calloc(1, sizeof(*op));
  backslice_selection* selection = NULL;
  int32_t code = op == NULL ? BACKSLICE_RESOURCE_EXHAUSTED : BACKSLICE_OK;
  if (code == BACKSLICE_OK)
    code = backslice_selection_from_begin_size(
        (backslice_ints){image, 4}, (backslice_ints){begin, 4},
        (backslice_ints){size, 4}, &selection);
  if (code == BACKSLICE_OK)
    code = backslice_prepared_slice_make(selection, BACKSLICE_FLOAT32, 0,
                                         &op->slice);
  backslice_free(selection);
  if (!succeeded(code, host)) {
    free(op);
    return NULL;
  }
  const int64_t y[] = {image[0], height, width, image[3]};
  memcpy(op->x_shape, image, sizeof(y));
  memcpy(op->y_shape, y, sizeof(y));
  return op;
}

/* A context is cheap: one per call. */
typedef int32_t (*prepared)(const backslice_prepared_slice*,
                            const backslice_view*, const backslice_view*,
                            const backslice_context*);
static int run(prepared function, const crop_op* op, crop_host* host,
               backslice_view from, backslice_view to) {
  backslice_executor executor = BACKSLICE_EXECUTOR_INIT;
  executor.run = run_on_host;
  executor.user = host;
  executor.concurrency = host->threads;
  backslice_context context = BACKSLICE_CONTEXT_INIT;
  context.executor = &executor;
  return succeeded(function(op->slice, &from, &to, &context), host);
}

int crop_forward(const crop_op* op, crop_host* host, const float* x, float* y) {
  return run(backslice_prepared_slice_forward, op, host,
             view_of(x, op->x_shape), view_of(y, op->y_shape));
}

int crop_backward(const crop_op* op, crop_host* host, const float* dy,
                  float* dx) {
  return run(backslice_prepared_slice_gradient, op, host,
             view_of(dy, op->y_shape), view_of(dx, op->x_shape));
}

void crop_free(crop_op* op) {
  if (op == NULL) return;
  backslice_free(op->slice);
  free(op);
}

/* -- A host, which checks the op */

static void one_by_one(void* pool, int64_t count,
                       void (*task)(void* arg, int64_t i), void* arg) {
  (void)pool;
  for (int64_t i = 0; i < count; ++i) task(arg, i);
}

enum { kImages = 2, kHeight = 8, kWidth = 10, kChannels = 3 };

int main(void) {
  crop_host host = {one_by_one, NULL, 1, ""};
  const int64_t image[] = {kImages, kHeight, kWidth, kChannels};
  static float x[kImages * kHeight * kWidth * kChannels], y[2 * 4 * 5 * 3],
      dx[kImages * kHeight * kWidth * kChannels];
  const int elements = (int)(sizeof(x) / sizeof(*x));
  for (int i = 0; i < elements; ++i) x[i] = (float)i;

  if (crop_make(&host, image, 6, 0, 4, 5) != NULL) return 1;
  printf("refused: %s\n", host.error);

  crop_op* op = crop_make(&host, image, 3, 2, 4, 5);
  int ok = op != NULL && crop_forward(op, &host, x, y) &&
           crop_backward(op, &host, y, dx);
  if (!ok) fprintf(stderr, "%s\n", host.error);
  for (int i = 0; ok && i < elements; ++i) { /* x inside, zero outside */
    const int row = i / (kWidth * kChannels) % kHeight;
    const int column = i / kChannels % kWidth;
    const int inside = row >= 3 && row < 7 && column >= 2 && column < 7;
    ok = dx[i] == (inside ? x[i] : 0.0f);
  }
  crop_free(op);
  puts(ok ? "the gradient of the crop is right" : "wrong");
  return ok ? 0 : 1;
}
