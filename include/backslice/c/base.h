/* What all of the C interface shares: error codes, element types, views, lists, contexts and handles.
 *
 * Every function that can fail returns an error code, 0 for success, and throws nothing. What went wrong is told by
 * backslice_last_error(). A call that fails changes nothing, unless its C++ counterpart says otherwise. Any pointer may
 * be NULL: where it must not be, that is an error which names the argument.
 *
 *     if (backslice_slice_into(rows, &x, &y, NULL) != BACKSLICE_OK) puts(backslice_last_error());
 *
 * Arguments are in this order:
 *
 * 1. The object that the function is named after, or the documents' inputs in the documents' order. Elsewhere what says
 *    what to do comes before the data, and a shape before an element type. A count follows the lists that it is for,
 *    `release` and `user` the memory that they are for.
 * 2. The caller's memory that is filled: views, and arrays for a shape or lengths.
 * 3. What has a default in C++: `order`, `write`, `types`, element shapes. A function that fills only a shape has
 *    element shapes among its inputs.
 * 4. `context`.
 * 5. Results: handles, sizes and counts that the function returns through a pointer.
 *
 * Structs begin with their size, by which a library knows the header that a program was compiled with. Their
 * BACKSLICE_..._INIT sets it, and every other field to its default. Any of them may grow at its end: the library takes
 * shorter ones, of earlier headers, and fills them up with defaults. The structs of a list all have one size.
 */
#ifndef BACKSLICE_C_BASE_H
#define BACKSLICE_C_BASE_H

#include <stddef.h>
#include <stdint.h>

#define BACKSLICE_C_API __attribute__((visibility("default")))

/* Rises when the layout of a struct or the meaning of a function changes. */
#define BACKSLICE_ABI_VERSION 1

/* No tensor has more axes, no ragged tensor more lists of row splits. */
#define BACKSLICE_MAX_RANK 32

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is loaded, "0.2.0", and of its C interface. */
BACKSLICE_C_API const char* backslice_version(void);
BACKSLICE_C_API int32_t backslice_abi_version(void);

/* -- Errors */

/* The numbers are those of gRPC and TensorFlow. */
enum {
  BACKSLICE_OK = 0,
  BACKSLICE_CANCELLED = 1,
  BACKSLICE_INVALID_ARGUMENT = 3,
  BACKSLICE_RESOURCE_EXHAUSTED = 8,
  BACKSLICE_FAILED_PRECONDITION = 9,
  BACKSLICE_OUT_OF_RANGE = 11,
  BACKSLICE_UNIMPLEMENTED = 12,
  BACKSLICE_INTERNAL = 13
};

/* "InvalidArgument" and so on; "Unknown" for a number that is not a code. */
BACKSLICE_C_API const char* backslice_code_name(int32_t code);

/* What the last call that failed on this thread said, until the next one that fails; "" if none has. Never NULL. */
BACKSLICE_C_API const char* backslice_last_error(void);

/* Whether that error was about an element type: 1 or 0. */
BACKSLICE_C_API int32_t backslice_last_error_is_about_dtype(void);

/* Whether the call that failed may have written some of the memory that it was to fill or to add to, or of a gradient
 * buffer: 1 or 0. After 0 the memory is as it was, and the call can be made again. After 1 it holds unspecified values;
 * a sum that is made again would add twice. */
BACKSLICE_C_API int32_t backslice_last_error_output_written(void);

/* The argument to blame for that error: its name in the function that was called, or that of a field of it; "" where it
 * is none or more than one. Never NULL. */
BACKSLICE_C_API const char* backslice_last_error_argument(void);

/* The entry of that argument: of a list its place in it, of an index the item, of a shape the axis, of row splits the
 * list; -1 where it is not about one entry. */
BACKSLICE_C_API int64_t backslice_last_error_position(void);

/* The part of a text to blame: the bytes from *begin to *end, which is not included. Returns 1 and sets both, or 0
 * where the argument was not read from text. */
BACKSLICE_C_API int32_t backslice_last_error_span(int64_t* begin, int64_t* end);

/* -- Element types: their numbers never change. Integers of 1, 2 and 4 bits take one byte per element. */

enum {
  BACKSLICE_BOOL = 0,
  BACKSLICE_INT1 = 1,
  BACKSLICE_INT2 = 2,
  BACKSLICE_INT4 = 3,
  BACKSLICE_INT8 = 4,
  BACKSLICE_INT16 = 5,
  BACKSLICE_INT32 = 6,
  BACKSLICE_INT64 = 7,
  BACKSLICE_UINT1 = 8,
  BACKSLICE_UINT2 = 9,
  BACKSLICE_UINT4 = 10,
  BACKSLICE_UINT8 = 11,
  BACKSLICE_UINT16 = 12,
  BACKSLICE_UINT32 = 13,
  BACKSLICE_UINT64 = 14,
  BACKSLICE_FLOAT16 = 15,
  BACKSLICE_BFLOAT16 = 16,
  BACKSLICE_FLOAT32 = 17,
  BACKSLICE_FLOAT64 = 18,
  BACKSLICE_FLOAT8_E3M4 = 19,
  BACKSLICE_FLOAT8_E4M3 = 20,
  BACKSLICE_FLOAT8_E4M3B11FNUZ = 21,
  BACKSLICE_FLOAT8_E4M3FN = 22,
  BACKSLICE_FLOAT8_E4M3FNUZ = 23,
  BACKSLICE_FLOAT8_E5M2 = 24,
  BACKSLICE_FLOAT8_E5M2FNUZ = 25,
  BACKSLICE_FLOAT8_E8M0FNU = 26,
  BACKSLICE_FLOAT6_E2M3FN = 27,
  BACKSLICE_FLOAT6_E3M2FN = 28,
  BACKSLICE_FLOAT4_E2M1FN = 29,
  BACKSLICE_COMPLEX64 = 30,
  BACKSLICE_COMPLEX128 = 31,
  BACKSLICE_QINT8 = 32,
  BACKSLICE_QUINT8 = 33,
  BACKSLICE_QINT16 = 34,
  BACKSLICE_QUINT16 = 35,
  BACKSLICE_QINT32 = 36,
  /* 37 are the std::string elements of C++, which C does not have. */
  BACKSLICE_BYTES = 38, /* opaque items of any fixed size; their zero is all zero bytes */
  BACKSLICE_STRING = 39 /* backslice_string elements */
};

/* A text of that many bytes, none of them special. As an element, the address and the size are moved; the bytes stay
 * where they are and the caller's. {NULL, 0} is the empty string, and the zero. */
typedef struct backslice_string {
  const char* data;
  int64_t size;
} backslice_string;

/* "float32" and so on, NULL for a number that is not an element type; and the way back, -1 where there is none. */
BACKSLICE_C_API const char* backslice_dtype_name(int32_t dtype);
BACKSLICE_C_API int32_t backslice_dtype_from_name(const char* name);

/* Bytes per element; 0 for BACKSLICE_BYTES, -1 for a number that is not an element type. */
BACKSLICE_C_API int64_t backslice_dtype_item_size(int32_t dtype);

/* -- Lists and views */

/* A list of numbers, of which it borrows the memory. Where a list may be left out, {NULL, 0} leaves it out; an empty
 * list that is given has some other address. */
typedef struct backslice_ints {
  const int64_t* data;
  int64_t size;
} backslice_ints;

/* A tensor in borrowed memory. Strides may be anything for an input; an output must not overlap itself. The views
 * that functions fill in point into their handle and hold as long as it does. */
typedef struct backslice_view {
  size_t struct_size;
  void* data;
  int32_t dtype;
  int32_t rank;
  const int64_t* shape;   /* `rank` extents; may be NULL for rank 0 */
  const int64_t* strides; /* `rank` of them, in bytes; NULL: row-major without gaps */
  int64_t item_size;      /* for BACKSLICE_BYTES only, which need it: at least 1 */
  int32_t device_type;    /* as in DLPack: BACKSLICE_CPU or BACKSLICE_CUDA */
  int32_t device_id;
} backslice_view;

/* An operation runs where its arguments are, and refuses a mixture. Row splits and lists of numbers are the CPU's. */
enum { BACKSLICE_CPU = 1, BACKSLICE_CUDA = 2 };

#define BACKSLICE_VIEW_INIT {sizeof(backslice_view), NULL, BACKSLICE_FLOAT32, 0, NULL, NULL, 0, BACKSLICE_CPU, 0}

/* -- Contexts */

/* How loops run in parallel: a thread pool of the caller's. */
typedef struct backslice_executor {
  size_t struct_size;
  void* user;
  int32_t concurrency; /* how many tasks may run at once, the calling thread's included; at least 1 */
  /* Calls task(arg, i) once for each i in [0, count), in any order, on any threads, and returns 0 when all have
   * returned. Several threads may call it at once, and a task may call it again. Where it returns anything but 0,
   * leaves out a task, calls one twice, or returns or throws while tasks run, the operation fails with
   * BACKSLICE_INTERNAL, a message that begins with "context.executor->run", and unspecified values in what it was
   * writing. A task that is called after it has returned does nothing. */
  int32_t (*run)(void* user, int64_t count, void (*task)(void* arg, int64_t i), void* arg);
} backslice_executor;

#define BACKSLICE_EXECUTOR_INIT {sizeof(backslice_executor), NULL, 1, NULL}

/* Where results get their memory. Both functions and `user` must live until the last block was given back, which may be
 * after the call: handles keep their memory. Several threads may call them at once. */
typedef struct backslice_allocator {
  size_t struct_size;
  void* user;
  /* At least that many bytes (never 0) at a multiple of `alignment`, all zero if `zeroed` is 1. NULL: there is none. */
  void* (*allocate)(void* user, int64_t bytes, int64_t alignment, int32_t zeroed);
  /* Of memory on CUDA it is called while kernels that are queued still use the block. So it must be stream-ordered, as
   * cudaFreeAsync is: the memory may be given out again, written or unmapped only behind what is queued by now on the
   * context's stream. Memory that other streams use, too, waits for them on that stream before this is called. */
  void (*deallocate)(void* user, void* data, int64_t bytes);
  int32_t has_free_zeros; /* 1: zeros cost nothing until they are touched, as pages fresh from the system do */
} backslice_allocator;

#define BACKSLICE_ALLOCATOR_INIT {sizeof(backslice_allocator), NULL, NULL, NULL, 0}

/* What a check of data on a device found, for callers that do not wait for it: see backslice_context. It lies in
 * memory of the device, at a multiple of 8. */
typedef struct backslice_device_status {
  int64_t refused;  /* 1 where the numbers differ; the operation has written nothing then */
  int64_t found;    /* rows that were found: used gradients, entries in a window */
  int64_t expected; /* rows that had to be */
} backslice_device_status;

/* The error of a status that was copied from the device, or BACKSLICE_OK. */
BACKSLICE_C_API int32_t backslice_device_status_check(const backslice_device_status* status);

/* Where an operation runs, where its memory comes from, and who may end it early. Wherever a context is taken, NULL
 * stands for the defaults. */
typedef struct backslice_context {
  size_t struct_size;
  const backslice_executor* executor;   /* NULL: the library's own pool */
  const backslice_allocator* allocator; /* NULL: the library's own memory */
  /* Asked between the pieces of an operation, before every 8 MiB that it writes at the latest, on any of its threads;
   * anything but 0 ends it with BACKSLICE_CANCELLED. One that writes less than 4 MiB may not ask.
   * backslice_last_error_output_written() says whether it had begun to write. NULL: nobody ends it early. */
  int32_t (*cancelled)(void* user);
  void* cancelled_user;
  void* stream;        /* for arguments on CUDA: a cudaStream_t, on which the operation is queued */
  int32_t device_type; /* where the allocator's memory is; where there is no allocator and no argument, the result */
  int32_t device_id;
  /* For arguments on CUDA, in memory of their device: functions that fill the caller's memory do not wait for checks
   * that depend on data, but have the device write here what it found. NULL: they wait. */
  backslice_device_status* device_status;
} backslice_context;

#define BACKSLICE_CONTEXT_INIT {sizeof(backslice_context), NULL, NULL, NULL, NULL, NULL, BACKSLICE_CPU, 0, NULL}

/* How a gradient is written into the caller's memory. */
enum {
  BACKSLICE_OVERWRITE = 0,  /* all of it: dy where selected, zero elsewhere */
  BACKSLICE_INTO_ZEROS = 1, /* the same, into memory that is all zero already, as the caller promises */
  /* out[selected] += dy, and nothing else is touched. After an error, backslice_last_error_output_written() says
   * whether some was added: then calling again would add that twice. */
  BACKSLICE_ACCUMULATE = 2
};

/* How many threads the library's own pool uses. */
BACKSLICE_C_API int32_t backslice_set_num_threads(int32_t threads);
BACKSLICE_C_API int32_t backslice_num_threads(void);

/* How many bytes of released results the library keeps for the next ones; and giving all of them back at once. */
BACKSLICE_C_API int32_t backslice_set_pool_limit(int64_t bytes);
BACKSLICE_C_API int32_t backslice_trim_pool(void);

/* -- Handles */

typedef struct backslice_buffer backslice_buffer;
typedef struct backslice_selection backslice_selection;
typedef struct backslice_prepared_slice backslice_prepared_slice;
typedef struct backslice_grad_buffer backslice_grad_buffer;
typedef struct backslice_ragged backslice_ragged;
typedef struct backslice_variant_array backslice_variant_array;
typedef struct backslice_tensor_array backslice_tensor_array;

/* Ends any handle; NULL is fine. Freeing a handle twice, or using one after it was freed, is undefined, as it is with
 * free(); a library that was built with assertions reports it: calls fail, and backslice_free() leaves its message in
 * backslice_last_error(). */
BACKSLICE_C_API void backslice_free(void* handle);

/* -- Memory */

/* Memory for results of the caller's, from the pool or from the context's allocator: at least that many bytes at a
 * multiple of 64, all zero if `zeroed` is 1. Memory of the pool has been touched before, where memory fresh from the
 * system costs a page fault per 4 KiB. */
BACKSLICE_C_API int32_t backslice_buffer_make(int64_t bytes, int32_t zeroed, const backslice_context* context,
                                              backslice_buffer** out);

/* Where it begins. */
BACKSLICE_C_API int32_t backslice_buffer_data(backslice_buffer* buffer, void** data);

#ifdef __cplusplus
}
#endif

#endif
