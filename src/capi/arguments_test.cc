// Errors of C name the arguments of the C function, where C++ has other names for them, too.
#include <vector>

#include "backslice/c/backslice.h"
#include "testing.h"

namespace backslice {
namespace {

// What backslice_last_error_argument() and its like said of a call that failed.
struct LastError {
  LastError(std::int32_t returned)
      : code(returned),
        argument(backslice_last_error_argument()),
        position(backslice_last_error_position()),
        message(backslice_last_error()) {}
  std::int32_t code;
  std::string argument;
  std::int64_t position;
  std::string message;
};

struct Blame {
  LastError error;
  const char* argument;
  std::int64_t position = -1;
};

void expect_blamed(const std::vector<Blame>& all) {
  for (const Blame& blame : all) {
    EXPECT_NE(blame.error.code, BACKSLICE_OK) << blame.argument;
    EXPECT_EQ(blame.error.argument, blame.argument) << blame.error.message;
    EXPECT_EQ(blame.error.position, blame.position) << blame.error.message;
    if (blame.error.message.find("from index") != std::string::npos) continue;  // which the list has
    EXPECT_THAT(blame.error.message, ::testing::HasSubstr(blame.argument));
  }
}

template <std::size_t rank>
backslice_view view_of(void* data, const std::int64_t (&shape)[rank], std::int32_t dtype = BACKSLICE_FLOAT32) {
  backslice_view view = BACKSLICE_VIEW_INIT;
  view.data = data;
  view.dtype = dtype;
  view.rank = rank;
  view.shape = shape;
  return view;
}

// tests/repository/test_arguments.py reads this list: each name is one of the C function.
TEST(CArguments, HaveTheirNamesOfC) {
  std::vector<float> data(12), memory(12);
  std::vector<std::int64_t> numbers = {0, 5, 12}, wrong_numbers = {0, 5, 3}, out_numbers(8);
  const std::int64_t shape[] = {3, 4}, twelve[] = {12}, three[] = {3}, two[] = {2}, five[] = {5}, nine[] = {9};
  const backslice_view x = view_of(data.data(), shape), flat = view_of(data.data(), twelve);
  const backslice_view out = view_of(memory.data(), shape), flat_out = view_of(memory.data(), twelve);
  const backslice_view splits = view_of(numbers.data(), three, BACKSLICE_INT64);
  const backslice_view wrong = view_of(wrong_numbers.data(), three, BACKSLICE_INT64);
  const backslice_view short_out = view_of(memory.data(), two);
  const backslice_view out_splits = view_of(out_numbers.data(), five, BACKSLICE_INT64);
  backslice_view unknown_dtype = x;
  unknown_dtype.dtype = 37;

  backslice_selection *rows = nullptr, *all = nullptr;
  ASSERT_EQ(backslice_selection_from_index({two, 1}, {"1:", 2}, &rows), BACKSLICE_OK);
  ASSERT_EQ(backslice_selection_all({shape, 2}, &all), BACKSLICE_OK);
  const backslice_selection* const both[] = {all, all};
  const backslice_selection* const mixed[] = {all, rows};
  const backslice_view dys[] = {x, flat}, right[] = {x, x};
  backslice_ragged *rt = nullptr, *none = nullptr;
  ASSERT_EQ(backslice_ragged_make(&flat, &splits, 1, nullptr, nullptr, nullptr, &rt), BACKSLICE_OK);
  backslice_variant_array *encoded = nullptr, *no_array = nullptr;
  ASSERT_EQ(backslice_ragged_tensor_to_variant(rt, 1, &encoded), BACKSLICE_OK);
  backslice_tensor_array* array = nullptr;
  ASSERT_EQ(backslice_tensor_array_make(2, BACKSLICE_FLOAT32, nullptr, nullptr, &array), BACKSLICE_OK);
  backslice_prepared_slice* no_slice = nullptr;
  backslice_ragged_size size = BACKSLICE_RAGGED_SIZE_INIT;
  backslice_variant_types types = {sizeof(types), -1, BACKSLICE_FLOAT32, 0};
  backslice_variant_types negative = {sizeof(types), BACKSLICE_BYTES, -1, -1};
  backslice_tensor_array_options options = BACKSLICE_TENSOR_ARRAY_OPTIONS_INIT;
  options.item_size = -1;  // which is C++'s kItemSizeOfDType
  backslice_grad_buffer* no_buffer = nullptr;
  backslice_tensor_array* no_tensors = nullptr;
  backslice_view negative_size = x;
  negative_size.item_size = -1;
  backslice_executor executor = BACKSLICE_EXECUTOR_INIT;
  executor.run = [](void*, std::int64_t, void (*)(void*, std::int64_t), void*) { return 0; };
  executor.concurrency = 0;
  backslice_context context = BACKSLICE_CONTEXT_INIT;
  context.executor = &executor;
  const backslice_view pieces[] = {flat, unknown_dtype};
  const backslice_view wrong_pieces[] = {flat, splits};

  expect_blamed({
      {backslice_slice_into(all, &flat, &out, nullptr), "x"},
      {backslice_slice_into(all, &unknown_dtype, &out, nullptr), "x"},
      {backslice_slice_into(all, &x, &out, &context), "context.executor->concurrency"},
      {backslice_multi_slice_grad_into({shape, 2}, both, dys, 2, &out, 0, nullptr), "dys", 1},
      {backslice_multi_slice_grad_into({shape, 2}, mixed, right, 2, &out, 0, nullptr), "selections", 1},
      {backslice_multi_slice_grad_into({shape, 2}, nullptr, right, 2, &out, 0, nullptr), "selections"},
      {backslice_multi_slice_write_into({shape, 2}, both, dys, 2, &out, nullptr), "dys", 1},
      {backslice_prepared_slice_make_for(all, &x, &flat, &no_slice), "y"},
      {backslice_ragged_make(&flat, &wrong, 1, nullptr, nullptr, nullptr, &none), "row_splits", 0},
      {backslice_ragged_make(&flat, &flat, 1, nullptr, nullptr, nullptr, &none), "row_splits", 0},
      {backslice_ragged_from_row_lengths(&flat, &splits, 1, nullptr, nullptr, nullptr, &none), "row_lengths", 0},
      {backslice_ragged_row_splits(rt, 3, &unknown_dtype), "level"},
      {backslice_ragged_slice(rt, all, nullptr, &none), "rows"},
      {backslice_ragged_slice_into(rt, rows, &out_splits, 1, &flat_out, nullptr), "out_values", 0},
      {backslice_ragged_slice_into(rt, rows, nullptr, 0, &flat_out, nullptr), "count"},
      {backslice_ragged_slice_size(rt, all, nullptr, &size), "rows"},
      {backslice_ragged_slice_grad_into(rt, rows, &flat, &flat_out, 0, nullptr), "dy", 0},
      {backslice_variant_array_reshape(encoded, {nine, 1}, &no_array), "shape"},
      {backslice_variant_array_element_into(encoded, 0, nullptr, 0, &short_out, nullptr), "out_values", 0},
      {backslice_variant_array_element_into(encoded, 0, &out_splits, 1, &short_out, nullptr), "count"},
      {backslice_ragged_tensor_from_variant_into(encoded, 0, 1, nullptr, 0, &flat_out, nullptr, nullptr), "count"},
      {backslice_ragged_tensor_from_variant(encoded, 0, 1, &types, nullptr, &none), "types.splits"},
      {backslice_ragged_tensor_from_variant_into(encoded, 0, 1, &out_splits, 1, &flat_out, nullptr, nullptr),
       "out_splits", 0},
      {backslice_ragged_tensor_from_variant_gradient(rt, {nine, 1}, &no_array), "encoded_shape"},
      {backslice_ragged_tensor_to_variant_gradient_into(encoded, &wrong, 1, {twelve, 1}, &flat_out, 0, nullptr),
       "row_splits", 0},
      {backslice_ragged_pieces_gradient_into(pieces, nullptr, 2, &splits, 1, {twelve, 1}, &flat_out, 0, nullptr),
       "pieces", 1},
      {backslice_prepared_slice_make(all, BACKSLICE_FLOAT32, -1, &no_slice), "item_size"},
      {backslice_grad_buffer_make({shape, 2}, BACKSLICE_BYTES, -1, nullptr, &no_buffer), "item_size"},
      {backslice_grad_buffer_make({shape, 2}, BACKSLICE_FLOAT32, -2, nullptr, &no_buffer), "item_size"},
      {backslice_tensor_array_make(2, BACKSLICE_BYTES, &options, nullptr, &no_tensors), "item_size"},
      {backslice_ragged_tensor_from_variant(encoded, 0, 1, &negative, nullptr, &none), "types.item_size"},
      {backslice_slice_into(all, &negative_size, &out, nullptr), "x"},
      {backslice_tensor_array_gather_into(array, {nine, 1}, &out, {nullptr, 0}, nullptr), "indices", 0},
      {backslice_tensor_array_scatter(array, {nine, 1}, &x, nullptr), "value"},
  });
  const LastError about_pieces =
      backslice_ragged_pieces_gradient_into(wrong_pieces, nullptr, 2, &splits, 1, {twelve, 1}, &flat_out, 0, nullptr);
  EXPECT_EQ(about_pieces.argument, "pieces") << about_pieces.message;
  EXPECT_EQ(about_pieces.position, 1);
  for (void* handle : std::initializer_list<void*>{rows, all, rt, encoded, array}) backslice_free(handle);
}

TEST(CArguments, DtypesThatCHasAreNamed) {
  std::vector<float> data(2);
  const std::int64_t two[] = {2};
  for (const std::int32_t dtype : {37, 40, -1}) {
    const backslice_view view = view_of(data.data(), two, dtype);
    EXPECT_EQ(backslice_slice_into(nullptr, &view, &view, nullptr), BACKSLICE_INVALID_ARGUMENT);
    backslice_grad_buffer* none = nullptr;
    EXPECT_EQ(backslice_grad_buffer_make({two, 1}, dtype, 0, nullptr, &none), BACKSLICE_INVALID_ARGUMENT);
    EXPECT_THAT(backslice_last_error(),
                ::testing::HasSubstr("those are 0 to 36, BACKSLICE_BYTES (38) and BACKSLICE_STRING (39)"));
    EXPECT_STREQ(backslice_last_error_argument(), "dtype");
  }
}

}  // namespace
}  // namespace backslice
