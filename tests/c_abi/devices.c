/* Where memory is: an operation whose arguments are on different devices is refused, whether there is such a device or
 * not, and so is memory of the CPU that is said to be elsewhere. Nothing is written then. */
#include "check.h"

static const int64_t kOne[] = {1}, kTwo[] = {2}, kThree[] = {3};

static backslice_view on_cuda(backslice_view of) {
  of.device_type = BACKSLICE_CUDA;
  return of;
}

static void contexts_and_dense_slices(void) {
  backslice_context context = BACKSLICE_CONTEXT_INIT;
  backslice_grad_buffer* none = NULL;
  context.device_type = 7; /* Vulkan */
  CHECK_FAILS(backslice_grad_buffer_make(INTS(1), BACKSLICE_FLOAT32, 0, &context, &none), BACKSLICE_UNIMPLEMENTED,
              "context names device 7:0");
  backslice_selection* all = at(INTS(1), ":");
  float x = 1, y = 0;
  backslice_view in = floats(&x, LIST(kOne)), out = floats(&y, LIST(kOne));
  in.device_id = 3;
  CHECK_FAILS(backslice_slice_into(all, &in, &out, NULL), BACKSLICE_UNIMPLEMENTED, "x names device 1:3");
  in.device_type = BACKSLICE_CUDA; /* which it is not on */
  in.device_id = 0;
  CHECK(backslice_slice_into(all, &in, &out, NULL) != BACKSLICE_OK && y == 0);
  in.device_type = BACKSLICE_CPU;
  out.device_type = BACKSLICE_CUDA;
  CHECK_FAILS(backslice_slice_into(all, &in, &out, NULL), BACKSLICE_INVALID_ARGUMENT, "out is on cuda:0");
  backslice_free(all);
}

static backslice_coo_indices matrix(const backslice_view* of) {
  backslice_coo_indices made = BACKSLICE_COO_INDICES_INIT;
  made.arrays = of;
  made.count = 1;
  return made;
}

static void sparse_slices(void) {
  const int64_t rows[] = {0, 1}, shape[] = {2, 1};
  const float values[] = {1, 2};
  float dx[] = {-1, -1};
  const backslice_view here = numbers(rows, LIST(shape)), there = on_cuda(here);
  const backslice_view grad = floats(values, LIST(kTwo)), grad_there = on_cuda(grad);
  const backslice_view out = floats(dx, LIST(kTwo)), out_there = on_cuda(out);
  const backslice_coo_indices indices = matrix(&here), indices_there = matrix(&there);
  const backslice_ints start = INTS(0), size = INTS(2);
  CHECK_FAILS(backslice_sparse_slice_grad_into(&grad, &indices_there, start, &indices, &out, BACKSLICE_IN_ORDER,
                                               BACKSLICE_OVERWRITE, NULL),
              BACKSLICE_INVALID_ARGUMENT, "input_indices is on cuda:0");
  CHECK_FAILS(backslice_sparse_slice_grad_into(&grad, &indices, start, &indices_there, &out, BACKSLICE_ANY_ORDER,
                                               BACKSLICE_OVERWRITE, NULL),
              BACKSLICE_INVALID_ARGUMENT, "output_indices is on cuda:0");
  CHECK_FAILS(backslice_sparse_slice_grad_into(&grad, &indices, start, &indices, &out_there, BACKSLICE_IN_ORDER,
                                               BACKSLICE_OVERWRITE, NULL),
              BACKSLICE_INVALID_ARGUMENT, "out is on cuda:0");
  CHECK_FAILS(
      backslice_sparse_slice_grad_by_size_into(&grad, &indices_there, start, size, &out, BACKSLICE_OVERWRITE, NULL),
      BACKSLICE_INVALID_ARGUMENT, "input_indices is on cuda:0");
  int64_t taken[2], shape_out[BACKSLICE_MAX_RANK];
  const backslice_view out_indices = numbers(taken, LIST(shape)), out_indices_there = on_cuda(out_indices);
  CHECK_FAILS(
      backslice_sparse_slice_into(&indices, &grad, size, start, size, &out_indices_there, &out, shape_out, NULL),
      BACKSLICE_INVALID_ARGUMENT, "out_indices is on cuda:0");
  CHECK_FAILS(
      backslice_sparse_slice_into(&indices, &grad, size, start, size, &out_indices, &out_there, shape_out, NULL),
      BACKSLICE_INVALID_ARGUMENT, "out_values is on cuda:0");
  CHECK(backslice_sparse_slice_into(&indices, &grad_there, size, start, size, &out_indices, &out, shape_out, NULL) !=
        BACKSLICE_OK);
  int64_t count = -1;
  CHECK(backslice_sparse_slice_count(&indices_there, start, size, NULL, &count) != BACKSLICE_OK && count == -1);
  CHECK(dx[0] == -1 && dx[1] == -1);
}

/* What a device has written becomes an error; operations on the CPU leave it alone. */
static void device_status(void) {
  backslice_device_status status = {0, 2, 2};
  CHECK_OK(backslice_device_status_check(&status));
  status.refused = 1;
  status.found = 1;
  CHECK_FAILS(backslice_device_status_check(&status), BACKSLICE_INTERNAL,
              "the device found 1 of the rows that were given, expected 2");
  CHECK_FAILS(backslice_device_status_check(NULL), BACKSLICE_INVALID_ARGUMENT, "status is NULL");

  const int64_t rows[] = {0, 1}, shape[] = {2, 1};
  const float values[] = {1, 2};
  float dx[] = {-1, -1};
  const backslice_view here = numbers(rows, LIST(shape)), grad = floats(values, LIST(kTwo)), out = floats(dx, LIST(kTwo));
  const backslice_coo_indices indices = matrix(&here);
  backslice_context context = BACKSLICE_CONTEXT_INIT;
  context.device_status = &status;
  CHECK_OK(backslice_sparse_slice_grad_into(&grad, &indices, INTS(0), &indices, &out, BACKSLICE_IN_ORDER,
                                            BACKSLICE_OVERWRITE, &context));
  CHECK(dx[0] == 1 && dx[1] == 2 && status.refused == 1 && status.found == 1);
}

/* A context as programs have it that were compiled before it had a device_status. */
static void shorter_contexts(void) {
  backslice_context older = BACKSLICE_CONTEXT_INIT;
  older.struct_size = offsetof(backslice_context, device_status);
  float x = 1, y = 0;
  backslice_selection* all = at(INTS(1), ":");
  const backslice_view in = floats(&x, LIST(kOne)), out = floats(&y, LIST(kOne));
  CHECK_OK(backslice_slice_into(all, &in, &out, &older));
  CHECK(y == 1);
  older.struct_size -= 8;
  CHECK_FAILS(backslice_slice_into(all, &in, &out, &older), BACKSLICE_INVALID_ARGUMENT,
              "context.struct_size is 48, expected 64: the struct was not initialised");
  older.struct_size = sizeof(backslice_context) - 4;
  CHECK_FAILS(backslice_slice_into(all, &in, &out, &older), BACKSLICE_INVALID_ARGUMENT,
              "context.struct_size is 60");
  older.struct_size = sizeof(backslice_context) + 8;
  CHECK_FAILS(backslice_slice_into(all, &in, &out, &older), BACKSLICE_INVALID_ARGUMENT,
              "compiled with the header of a newer backslice");
  backslice_free(all);
}

static void ragged_tensors(void) {
  const float data[] = {1, 2, 3};
  float dx[] = {-1, -1, -1};
  const int64_t splits[] = {0, 1, 3};
  int64_t some_splits[3];
  const backslice_view values = floats(data, LIST(kThree)), values_there = on_cuda(values);
  const backslice_view row_splits = numbers(splits, LIST(kThree));
  const backslice_view out = floats(dx, LIST(kThree)), out_there = on_cuda(out);
  const backslice_view out_splits = numbers(some_splits, LIST(kThree));
  backslice_ragged *rt = NULL, *none = NULL;
  CHECK(backslice_ragged_make(&values_there, &row_splits, 1, NULL, NULL, NULL, &none) != BACKSLICE_OK && none == NULL);
  CHECK_OK(backslice_ragged_make(&values, &row_splits, 1, NULL, NULL, NULL, &rt));
  backslice_view told = BACKSLICE_VIEW_INIT;
  CHECK_OK(backslice_ragged_values(rt, &told));
  CHECK(told.device_type == BACKSLICE_CPU && told.device_id == 0);
  backslice_selection* rows = at(INTS(2), ":");
  CHECK_FAILS(backslice_ragged_slice_into(rt, rows, &out_splits, 1, &out_there, NULL), BACKSLICE_INVALID_ARGUMENT,
              "is on cuda:0");
  CHECK_FAILS(backslice_ragged_slice_grad_into(rt, rows, &values_there, &out, BACKSLICE_OVERWRITE, NULL),
              BACKSLICE_INVALID_ARGUMENT, "dy is on cuda:0");
  CHECK_FAILS(backslice_ragged_slice_grad_into(rt, rows, &values, &out_there, BACKSLICE_OVERWRITE, NULL),
              BACKSLICE_INVALID_ARGUMENT, "out is on cuda:0");
  const backslice_view pieces[] = {floats(data, LIST(kOne)), on_cuda(floats(data + 1, LIST(kTwo)))};
  CHECK_FAILS(backslice_ragged_pieces_gradient_into(pieces, NULL, 2, &row_splits, 1, LIST(kThree), &out,
                                                    BACKSLICE_OVERWRITE, NULL),
              BACKSLICE_INVALID_ARGUMENT, "piece 1 is on cuda:0");
  CHECK(dx[0] == -1 && dx[1] == -1 && dx[2] == -1);
  backslice_free(rows);
  backslice_free(rt);
}

static void tensor_arrays(void) {
  backslice_context context = BACKSLICE_CONTEXT_INIT;
  context.device_type = BACKSLICE_CUDA;
  context.device_id = 2;
  backslice_tensor_array *here = NULL, *there = NULL;
  CHECK_OK(backslice_tensor_array_make(2, BACKSLICE_FLOAT32, NULL, NULL, &here));
  CHECK_OK(backslice_tensor_array_make(2, BACKSLICE_FLOAT32, NULL, &context, &there)); /* nothing is made there yet */
  int32_t type = 0, id = 0;
  CHECK_OK(backslice_tensor_array_device(here, &type, &id));
  CHECK(type == BACKSLICE_CPU && id == 0);
  CHECK_OK(backslice_tensor_array_device(there, &type, &id));
  CHECK(type == BACKSLICE_CUDA && id == 2);
  CHECK_FAILS(backslice_tensor_array_device(there, NULL, &id), BACKSLICE_INVALID_ARGUMENT, "device_type is NULL");
  CHECK_FAILS(backslice_tensor_array_device(there, &type, NULL), BACKSLICE_INVALID_ARGUMENT, "device_id is NULL");
  CHECK_FAILS(backslice_tensor_array_device(NULL, &type, &id), BACKSLICE_INVALID_ARGUMENT, "array is NULL");

  float x = 1;
  const backslice_view value = floats(&x, NO_INTS), value_there = on_cuda(value);
  CHECK_FAILS(backslice_tensor_array_write(there, 0, &value, NULL), BACKSLICE_INVALID_ARGUMENT,
              "elements are on cuda:2 but a value on the CPU was written");
  CHECK_FAILS(backslice_tensor_array_write_shared(here, 0, &value_there, NULL, NULL, NULL), BACKSLICE_INVALID_ARGUMENT,
              "elements are on the CPU but a value on cuda:0 was written");
  CHECK(backslice_tensor_array_write(here, 0, &value_there, NULL) != BACKSLICE_OK);
  CHECK_OK(backslice_tensor_array_write(here, 0, &value, NULL));
  float y = -1;
  const backslice_view out_there = on_cuda(floats(&y, NO_INTS));
  CHECK_FAILS(backslice_tensor_array_read_into(here, 0, &out_there, NULL), BACKSLICE_INVALID_ARGUMENT,
              "out is on cuda:0");
  CHECK(y == -1);
  backslice_tensor_array* gradient = NULL;
  CHECK_OK(backslice_tensor_array_grad(here, text("g"), NULL, &gradient));
  CHECK_OK(backslice_tensor_array_device(gradient, &type, &id));
  CHECK(type == BACKSLICE_CPU);
  backslice_free(gradient);
  backslice_free(here);
  backslice_free(there);
}

int main(void) {
  contexts_and_dense_slices();
  sparse_slices();
  device_status();
  shorter_contexts();
  ragged_tensors();
  tensor_arrays();
  return 0;
}
