/* What the C programs share: checks that say where they failed, views of arrays, lists. */
#ifndef BACKSLICE_TESTS_C_ABI_CHECK_H
#define BACKSLICE_TESTS_C_ABI_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backslice/c/backslice.h"

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      fprintf(stderr, "the last error was: %s\n", backslice_last_error());    \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

#define CHECK_OK(call) CHECK((call) == BACKSLICE_OK)

/* The call fails with that code, and a message that has that text in it. */
#define CHECK_FAILS(call, code, text)                      \
  do {                                                     \
    CHECK((call) == (code));                               \
    CHECK(strstr(backslice_last_error(), (text)) != NULL); \
  } while (0)

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof((array)[0])))

/* backslice_ints of an array, or of numbers. */
#define LIST(array) ((backslice_ints){(array), COUNT(array)})
#define INTS(...) LIST(((const int64_t[]){__VA_ARGS__}))
#define NO_INTS ((backslice_ints){NULL, 0})

#define CHECK_SAME(a, b)                     \
  do {                                       \
    CHECK(sizeof(a) == sizeof(b));           \
    CHECK(memcmp((a), (b), sizeof(a)) == 0); \
  } while (0)

static inline backslice_string text(const char* literal) {
  const backslice_string string = {literal, (int64_t)strlen(literal)};
  return string;
}

/* Without gaps. The shape must outlive the view. */
static inline backslice_view view(const void* data, int32_t dtype, backslice_ints shape) {
  backslice_view made = BACKSLICE_VIEW_INIT;
  made.data = (void*)data;
  made.dtype = dtype;
  made.rank = (int32_t)shape.size;
  made.shape = shape.data;
  return made;
}

static inline backslice_view floats(const float* data, backslice_ints shape) {
  return view(data, BACKSLICE_FLOAT32, shape);
}

static inline backslice_view numbers(const int64_t* data, backslice_ints shape) {
  return view(data, BACKSLICE_INT64, shape);
}

static inline backslice_selection* at(backslice_ints shape, const char* index) {
  backslice_selection* selection = NULL;
  CHECK_OK(backslice_selection_from_index(shape, text(index), &selection));
  return selection;
}

#endif
