/* Executors, allocators and cancellation of the program's own, in good order and failing in every way they can. */
#include "check.h"

enum { kRows = 4096, kColumns = 1024 }; /* enough for many pieces */
static const int64_t kShape[] = {kRows, kColumns}, kHalf[] = {kRows / 2, kColumns};
static float *dy_data, *dx_data;

typedef struct {
  int calls, limit, code, twice;
} Pool;

static int32_t run(void* user, int64_t count, void (*task)(void* arg, int64_t i), void* arg) {
  Pool* pool = user;
  ++pool->calls;
  for (int64_t i = 0; i < count && i < pool->limit; ++i) task(arg, i);
  if (pool->twice) task(arg, 0);
  if (pool->twice) task(arg, count + 5);
  return pool->code;
}

static int32_t gradient(Pool* pool, int32_t (*cancelled)(void* user)) {
  backslice_executor executor = BACKSLICE_EXECUTOR_INIT;
  backslice_context context = BACKSLICE_CONTEXT_INIT;
  backslice_selection* even = at(LIST(kShape), "::2");
  const backslice_view dy = floats(dy_data, LIST(kHalf)), dx = floats(dx_data, LIST(kShape));
  executor.user = pool;
  executor.concurrency = 4;
  executor.run = run;
  context.executor = &executor;
  context.cancelled = cancelled;
  const int32_t code = backslice_slice_grad_into(even, &dy, &dx, BACKSLICE_OVERWRITE, &context);
  backslice_free(even);
  return code;
}

static int32_t yes(void* user) {
  (void)user;
  return 1;
}

static void executors(void) {
  Pool good = {0, 1 << 30, 0, 0}, failing = {0, 2, 5, 0}, idle = {0, 0, 5, 0}, lazy = {0, 1, 0, 0};
  Pool eager = {0, 1 << 30, 0, 1};
  CHECK_OK(gradient(&good, NULL));
  CHECK(good.calls == 1 && dx_data[0] == 1 && dx_data[kColumns] == 0 && dx_data[(kRows - 2) * kColumns] == 1);
  CHECK_FAILS(gradient(&failing, NULL), BACKSLICE_INTERNAL, "returned 5");
  CHECK(failing.calls == 1);
  CHECK_FAILS(gradient(&idle, NULL), BACKSLICE_INTERNAL, "returned 5");
  CHECK_FAILS(gradient(&lazy, NULL), BACKSLICE_INTERNAL, "left out tasks");
  CHECK_FAILS(gradient(&eager, NULL), BACKSLICE_INTERNAL, "context.executor->run called a task twice");
  CHECK(backslice_last_error_output_written() == 1);
  CHECK(gradient(&good, yes) == BACKSLICE_CANCELLED);
  CHECK(backslice_last_error_output_written() == 0);
}

/* What a buffer has begun it finishes: the error is told, and the content is right. */
static void buffers_outlast_executors_that_fail(void) {
  Pool failing = {0, 1, 5, 0};
  backslice_executor executor = BACKSLICE_EXECUTOR_INIT;
  backslice_context context = BACKSLICE_CONTEXT_INIT;
  backslice_grad_buffer* buffer = NULL;
  backslice_selection* even = at(LIST(kShape), "::2");
  backslice_view content = BACKSLICE_VIEW_INIT;
  const backslice_view dy = floats(dy_data, LIST(kHalf));
  executor.user = &failing;
  executor.concurrency = 4;
  executor.run = run;
  context.executor = &executor;
  CHECK_OK(backslice_grad_buffer_make(LIST(kShape), BACKSLICE_FLOAT32, 0, NULL, &buffer));
  CHECK_OK(backslice_grad_buffer_write(buffer, even, &dy, NULL));
  CHECK_FAILS(backslice_grad_buffer_add(buffer, even, &dy, &context), BACKSLICE_INTERNAL, "returned 5");
  CHECK(failing.calls > 0);
  CHECK_OK(backslice_grad_buffer_view(buffer, &content));
  const float* data = content.data;
  for (int64_t i = 0; i < (int64_t)kRows * kColumns; ++i) CHECK(data[i] == (i / kColumns % 2 == 0 ? 2.f : 0.f));
  CHECK_FAILS(backslice_grad_buffer_zero(buffer, &context), BACKSLICE_INTERNAL, "returned 5");
  for (int64_t i = 0; i < (int64_t)kRows * kColumns; ++i) CHECK(data[i] == 0);
  backslice_free(even);
  backslice_free(buffer);
}

typedef struct {
  int alive, refuses, misaligned;
} Arena;

static void* take(void* user, int64_t bytes, int64_t alignment, int32_t zeroed) {
  Arena* arena = user;
  if (arena->refuses) return NULL;
  CHECK(bytes > 0 && alignment == 64);
  char* memory = aligned_alloc((size_t)alignment, (size_t)(bytes + 2 * alignment - 1) / 64 * 64);
  if (zeroed) memset(memory, 0, (size_t)bytes);
  ++arena->alive;
  return memory + arena->misaligned;
}

static void give_back(void* user, void* data, int64_t bytes) {
  Arena* arena = user;
  CHECK(bytes > 0);
  --arena->alive;
  free((char*)data - arena->misaligned);
}

static void allocators(void) {
  Arena arena = {0, 0, 0};
  backslice_allocator allocator = BACKSLICE_ALLOCATOR_INIT;
  backslice_context context = BACKSLICE_CONTEXT_INIT;
  backslice_grad_buffer *buffer = NULL, *none = NULL;
  allocator.user = &arena;
  allocator.allocate = take;
  allocator.deallocate = give_back;
  context.allocator = &allocator;
  CHECK_OK(backslice_grad_buffer_make(INTS(100), BACKSLICE_FLOAT32, 0, &context, &buffer));
  CHECK(arena.alive == 1);
  allocator.allocate = NULL; /* the buffer has no use for the struct any more */
  backslice_free(buffer);
  CHECK(arena.alive == 0);
  CHECK_FAILS(backslice_grad_buffer_make(INTS(100), BACKSLICE_FLOAT32, 0, &context, &none), BACKSLICE_INVALID_ARGUMENT,
              "allocate is NULL");
  allocator.allocate = take;
  CHECK_OK(backslice_grad_buffer_make(INTS(0), BACKSLICE_FLOAT32, 0, &context, &buffer));
  backslice_free(buffer);
  arena.refuses = 1;
  CHECK_FAILS(backslice_grad_buffer_make(INTS(100), BACKSLICE_FLOAT32, 0, &context, &none),
              BACKSLICE_RESOURCE_EXHAUSTED, "400 bytes");
  arena.refuses = 0;
  arena.misaligned = 8;
  CHECK_FAILS(backslice_grad_buffer_make(INTS(100), BACKSLICE_FLOAT32, 0, &context, &none), BACKSLICE_INTERNAL,
              "not aligned");
  CHECK(arena.alive == 0 && none == NULL);
}

/* Memory for results of the program's own. */
static void buffers_of_memory(void) {
  Arena arena = {0, 0, 0};
  backslice_allocator allocator = BACKSLICE_ALLOCATOR_INIT;
  backslice_context context = BACKSLICE_CONTEXT_INIT;
  backslice_buffer *own = NULL, *pooled = NULL, *none = NULL;
  void* data = NULL;
  CHECK_OK(backslice_buffer_make(1000, 1, NULL, &pooled));
  CHECK_OK(backslice_buffer_data(pooled, &data));
  CHECK((uintptr_t)data % 64 == 0);
  for (int i = 0; i < 1000; ++i) CHECK(((char*)data)[i] == 0);
  memset(data, 1, 1000);
  backslice_free(pooled);
  allocator.user = &arena;
  allocator.allocate = take;
  allocator.deallocate = give_back;
  context.allocator = &allocator;
  CHECK_OK(backslice_buffer_make(1000, 0, &context, &own));
  CHECK(arena.alive == 1);
  backslice_free(own);
  CHECK(arena.alive == 0);
  CHECK_OK(backslice_buffer_make(0, 0, &context, &own));
  CHECK_OK(backslice_buffer_data(own, &data));
  backslice_free(own);
  CHECK_FAILS(backslice_buffer_make(-1, 0, NULL, &none), BACKSLICE_INVALID_ARGUMENT, "bytes is -1");
  CHECK_FAILS(backslice_buffer_make(1, 2, NULL, &none), BACKSLICE_INVALID_ARGUMENT, "zeroed");
  CHECK_FAILS(backslice_buffer_make(INT64_MAX, 0, NULL, &none), BACKSLICE_RESOURCE_EXHAUSTED, "bytes");
  CHECK_FAILS(backslice_buffer_make(1, 0, NULL, NULL), BACKSLICE_INVALID_ARGUMENT, "out is NULL");
  CHECK_FAILS(backslice_buffer_data(NULL, &data), BACKSLICE_INVALID_ARGUMENT, "buffer is NULL");
  CHECK(none == NULL);
}

int main(void) {
  dy_data = malloc(sizeof(float) * kRows / 2 * kColumns);
  dx_data = malloc(sizeof(float) * kRows * kColumns);
  for (int64_t i = 0; i < kRows / 2 * kColumns; ++i) dy_data[i] = 1;
  executors();
  buffers_outlast_executors_that_fail();
  allocators();
  buffers_of_memory();
  free(dy_data);
  free(dx_data);
  return 0;
}
