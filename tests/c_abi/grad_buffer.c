/* Gradient buffers, and elements that are strings or opaque items. */
#include "check.h"

static const int64_t kFour[] = {4}, kTwo[] = {2};
static const float kDy[] = {1, 2};

static void check_content(const backslice_grad_buffer* buffer, float a, float b, float c, float d) {
  backslice_view content = BACKSLICE_VIEW_INIT;
  CHECK_OK(backslice_grad_buffer_view(buffer, &content));
  CHECK(content.dtype == BACKSLICE_FLOAT32 && content.rank == 1 && content.shape[0] == 4);
  const float* data = content.data;
  CHECK(data[0] == a && data[1] == b && data[2] == c && data[3] == d);
}

static void writes_adds_and_clears(void) {
  backslice_grad_buffer* buffer = NULL;
  backslice_selection *low = at(LIST(kFour), ":2"), *middle = at(LIST(kFour), "1:3");
  backslice_view writable = BACKSLICE_VIEW_INIT;
  const backslice_view dy = floats(kDy, LIST(kTwo));
  CHECK_OK(backslice_grad_buffer_make(LIST(kFour), BACKSLICE_FLOAT32, 0, NULL, &buffer));
  CHECK_OK(backslice_grad_buffer_write(buffer, low, &dy, NULL));
  CHECK_OK(backslice_grad_buffer_add(buffer, middle, &dy, NULL));
  check_content(buffer, 1, 3, 2, 0);
  CHECK_OK(backslice_grad_buffer_write(buffer, middle, &dy, NULL));
  check_content(buffer, 0, 1, 2, 0);
  CHECK_OK(backslice_grad_buffer_writable(buffer, &writable));
  ((float*)writable.data)[3] = 7;
  check_content(buffer, 0, 1, 2, 7);
  CHECK_OK(backslice_grad_buffer_zero(buffer, NULL));
  check_content(buffer, 0, 0, 0, 0);
  backslice_free(low);
  backslice_free(middle);
  backslice_free(buffer);
}

/* A string is an address and a size; where there is none, the empty string. */
static void strings(void) {
  const backslice_string words[2] = {text("alpha"), {"b\0c", 3}};
  backslice_string out[4];
  backslice_selection* middle = at(LIST(kFour), "1:3");
  const backslice_view dy = view(words, BACKSLICE_STRING, LIST(kTwo)), dx = view(out, BACKSLICE_STRING, LIST(kFour));
  memset(out, 0xff, sizeof(out));
  CHECK_OK(backslice_slice_grad_into(middle, &dy, &dx, BACKSLICE_OVERWRITE, NULL));
  CHECK(out[0].data == NULL && out[0].size == 0 && out[3].data == NULL && out[3].size == 0);
  CHECK(out[1].data == words[0].data && out[1].size == 5 && out[2].data == words[1].data && out[2].size == 3);
  CHECK_FAILS(backslice_slice_grad_into(middle, &dy, &dx, BACKSLICE_ACCUMULATE, NULL), BACKSLICE_INVALID_ARGUMENT,
              "string");
  CHECK(backslice_last_error_is_about_dtype() == 1);
  backslice_free(middle);
}

static void strings_are_not_bytes(void) {
  backslice_string memory[4] = {{NULL, 0}};
  backslice_selection* middle = at(LIST(kFour), "1:3");
  backslice_view dy = view(memory, BACKSLICE_STRING, LIST(kTwo)), dx = view(memory + 2, BACKSLICE_BYTES, LIST(kTwo));
  dx.item_size = 16;
  backslice_selection* all = NULL;
  CHECK_OK(backslice_selection_all(LIST(kTwo), &all));
  CHECK_FAILS(backslice_slice_into(all, &dy, &dx, NULL), BACKSLICE_INVALID_ARGUMENT, "string");
  backslice_free(middle);
  backslice_free(all);
}

static void opaque_items(void) {
  const char items[] = "abcdef";
  backslice_grad_buffer* buffer = NULL;
  backslice_selection* middle = at(LIST(kFour), "1:3");
  backslice_view content = BACKSLICE_VIEW_INIT, dy = view(items, BACKSLICE_BYTES, LIST(kTwo));
  dy.item_size = 3;
  CHECK_OK(backslice_grad_buffer_make(LIST(kFour), BACKSLICE_BYTES, 3, NULL, &buffer));
  CHECK_OK(backslice_grad_buffer_write(buffer, middle, &dy, NULL));
  CHECK_OK(backslice_grad_buffer_view(buffer, &content));
  CHECK(content.dtype == BACKSLICE_BYTES && content.item_size == 3);
  CHECK(memcmp(content.data, "\0\0\0abcdef\0\0\0", 12) == 0);
  backslice_free(middle);
  backslice_free(buffer);
}

int main(void) {
  writes_adds_and_clears();
  strings();
  strings_are_not_bytes();
  opaque_items();
  return 0;
}
