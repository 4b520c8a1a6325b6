/* A program in C: a session of ONNX Runtime's shared library with backslice's operators, through the function table.
 *
 *     session libonnxruntime.so libbackslice_onnxruntime.so model.onnx
 *
 * The model computes dX [4, 2] from dY, the gradient of x[1:3], with com.microsoft::SliceGrad. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 17, FLOAT = 1, ERRORS_ONLY = 3 };

/* Places in the table. */
enum {
  GET_ERROR_MESSAGE = 2,
  CREATE_ENV = 3,
  CREATE_SESSION = 7,
  RUN = 9,
  CREATE_SESSION_OPTIONS = 10,
  CREATE_TENSOR_WITH_DATA = 49,
  GET_TENSOR_MUTABLE_DATA = 51,
  CREATE_CPU_MEMORY_INFO = 69,
  RELEASE_ENV = 92,
  RELEASE_MEMORY_INFO = 94,
  RELEASE_SESSION = 95,
  RELEASE_VALUE = 96,
  RELEASE_SESSION_OPTIONS = 100,
  ADD_SESSION_CONFIG_ENTRY = 130,
  REGISTER_CUSTOM_OPS_LIBRARY = 228
};

typedef struct {
  const void* (*get_api)(uint32_t version);
  const char* (*get_version_string)(void);
} ApiBase;

typedef void (*Function)(void);
static const Function* table;

#define CALL(type, place) ((type)table[place])

typedef const char* (*Message)(const void* status);
typedef void (*Release)(void* object);
typedef void* (*CreateEnv)(int severity, const char* name, void** env);
typedef void* (*CreateSession)(const void* env, const char* path, const void* options, void** session);
typedef void* (*Create)(void** object);
typedef void* (*AddConfigEntry)(void* options, const char* key, const char* value);
typedef void* (*Register)(void* options, const char* path);
typedef void* (*CreateMemoryInfo)(int allocator, int memory, void** info);
typedef void* (*CreateTensor)(const void* info, void* data, size_t bytes, const int64_t* shape, size_t rank, int type,
                              void** value);
typedef void* (*Run)(void* session, const void* options, const char* const* inputs, void* const* values, size_t count,
                     const char* const* outputs, size_t output_count, void** results);
typedef void* (*GetData)(void* value, void** data);

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "failed: %s\n", what);
  exit(1);
}

static void succeed(void* status) { expect(status == NULL, status ? CALL(Message, GET_ERROR_MESSAGE)(status) : ""); }

static void load(const char* library) {
  const ApiBase* (*get_base)(void);
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  expect(handle != NULL, "dlopen");
  *(void**)&get_base = dlsym(handle, "OrtGetApiBase");
  expect(get_base != NULL, "OrtGetApiBase");
  table = get_base()->get_api(VERSION);
  expect(table != NULL, "version 17 of the interface");
}

static void check_gradient(void* session) {
  float dy[] = {1, 2, 3, 4};
  const float expected[] = {0, 0, 1, 2, 3, 4, 0, 0};
  const int64_t shape[] = {2, 2};
  const char *input = "dY", *output = "dX";
  void *memory = NULL, *value = NULL, *dx = NULL, *data = NULL;
  succeed(CALL(CreateMemoryInfo, CREATE_CPU_MEMORY_INFO)(0, 0, &memory));
  succeed(CALL(CreateTensor, CREATE_TENSOR_WITH_DATA)(memory, dy, sizeof dy, shape, 2, FLOAT, &value));
  succeed(CALL(Run, RUN)(session, NULL, &input, &value, 1, &output, 1, &dx));
  succeed(CALL(GetData, GET_TENSOR_MUTABLE_DATA)(dx, &data));
  expect(memcmp(data, expected, sizeof expected) == 0, "the gradient");
  CALL(Release, RELEASE_VALUE)(dx);
  CALL(Release, RELEASE_VALUE)(value);
  CALL(Release, RELEASE_MEMORY_INFO)(memory);
}

int main(int count, char** arguments) {
  void *environment = NULL, *options = NULL, *session = NULL;
  expect(count == 4, "three arguments");
  load(arguments[1]);
  succeed(CALL(CreateEnv, CREATE_ENV)(ERRORS_ONLY, "session", &environment));
  succeed(CALL(Create, CREATE_SESSION_OPTIONS)(&options));
  succeed(CALL(AddConfigEntry, ADD_SESSION_CONFIG_ENTRY)(options, "custom_op.SliceGrad.domain", "com.microsoft"));
  succeed(CALL(Register, REGISTER_CUSTOM_OPS_LIBRARY)(options, arguments[2]));
  succeed(CALL(CreateSession, CREATE_SESSION)(environment, arguments[3], options, &session));
  check_gradient(session);
  CALL(Release, RELEASE_SESSION)(session);
  CALL(Release, RELEASE_SESSION_OPTIONS)(options);
  CALL(Release, RELEASE_ENV)(environment);
  return 0;
}
