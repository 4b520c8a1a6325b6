// Arguments as C gives them, checked and turned into those of C++. What is wrong ends the call, with an error that
// names the argument.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backslice/c/base.h"
#include "backslice/c/selection.h"
#include "backslice/context.h"
#include "backslice/onnx_slice.h"
#include "backslice/partial_shape.h"
#include "backslice/tensor.h"
#include "capi/boundary.h"
#include "select/tf_lists.h"

namespace backslice::capi {

// The name of an argument for messages, made into text only where there is one: "dy", "pieces[3]", "types.values".
struct Argument {
  Argument(const char* whole) : name(whole) {}
  Argument(const char* whole, const char* part) : name(whole), field(part) {}
  Argument(const char* list, std::int64_t position) : name(list), index(position) {}
  const char* name;
  const char* field = nullptr;
  std::int64_t index = -1;
};
std::string text(const Argument& argument);

// -- Pointers

template <class T>
T& not_null(T* pointer, const Argument& argument) {
  if (pointer == nullptr) refuse(invalid_argument(text(argument), " is NULL").at(text(argument)));
  return *pointer;
}

// A device by DLPack's numbers.
[[noreturn]] void refuse_device(std::int32_t type, std::int32_t id, const Argument& argument);

inline Device device_from(std::int32_t type, std::int32_t id, const Argument& argument) {
  if (type == BACKSLICE_CPU && id == 0) return Device::cpu();
  if (type == BACKSLICE_CUDA && id >= 0) return Device::cuda(id);
  refuse_device(type, id, argument);
}
void set_device(std::int32_t& type, std::int32_t& id, Device device);

// No list in memory is longer.
inline constexpr std::int64_t kMostItems = std::int64_t{1} << 48;

// The items of an array. Ends the call for a negative count, one above `most`, or NULL in place of items.
template <class T>
std::span<T> items(T* data, std::int64_t count, const Argument& argument, const Argument& count_argument,
                   std::int64_t most = kMostItems) {
  if (count < 0 || count > most) {
    refuse(invalid_argument(text(count_argument), " is ", count, ", expected 0 to ", most).at(text(count_argument)));
  }
  if (count > 0) not_null(data, argument);
  return {data, static_cast<std::size_t>(count)};
}

// -- Numbers, lists and text

[[noreturn]] void refuse_dtype(std::int32_t number, const Argument& argument, const char* field);

// C has all element types but std::string. `field` is where the number stands in the argument: ".dtype" of a view.
inline DType dtype_from(std::int32_t number, const Argument& argument, const char* field = "") {
  const bool exists = number >= 0 && number <= static_cast<std::int32_t>(DType::StringView);
  if (!exists || number == static_cast<std::int32_t>(DType::String)) refuse_dtype(number, argument, field);
  return static_cast<DType>(number);
}

// C's 0 says that it is left out; C++'s number for that is refused as any other below 0.
inline std::int64_t item_size_from(std::int64_t item_size, const Argument& argument = "item_size") {
  if (item_size < 0) refuse(invalid_argument(text(argument), " ", item_size, " must be >= 0").at(text(argument)));
  return item_size == 0 ? kItemSizeOfDType : item_size;
}

Write write_of(std::int32_t number);
bool flag_of(std::int32_t number, const Argument& argument);

// A list or a text of an impossible size, or without the memory for its size.
[[noreturn]] void refuse_sized(std::int64_t size, const Argument& argument);

inline Ints ints_of(const backslice_ints& list, const Argument& argument) {
  const bool exists = list.size >= 0 && list.size <= kMostItems && (list.size == 0 || list.data != nullptr);
  if (!exists) refuse_sized(list.size, argument);
  return {list.data, static_cast<std::size_t>(list.size)};
}
std::optional<Ints> optional_ints_of(const backslice_ints& list, const Argument& argument);
Shape shape_of(const backslice_ints& list, const char* argument);
PartialShape partial_shape_of(const backslice_ints& list, const char* argument);
std::string_view text_of(const backslice_string& string, const Argument& argument);

// With the caller's own lists: three vectors would cost a small gradient a tenth of its time.
TfLists tf_lists_of(const backslice_tf_slice* spec);
OnnxSlice onnx_slice_of(const backslice_onnx_slice* spec);

// -- Views

// For reading alone, and for any use; elements must have an address.
ConstView input_of(const backslice_view* view, const Argument& argument);
View view_of(const backslice_view* view, const Argument& argument);
std::vector<View> views_of(const backslice_view* views, std::int64_t count, const char* argument,
                           const char* count_argument = "count", std::int64_t most = BACKSLICE_MAX_RANK);

// The same where only the layout matters, and data may be NULL.
View layout_of(const backslice_view* view, const Argument& argument);

// Memory that the caller keeps for as long as it is needed.
Tensor borrowed(const View& view);
std::vector<Tensor> borrowed(const std::vector<View>& views);

// -- Results. Where they go is checked before anything is done.

// Room for a shape and its rank.
class ShapeOut {
 public:
  ShapeOut(std::int64_t* shape, const Argument& shape_argument, std::int32_t* rank, const Argument& rank_argument)
      : shape_(&not_null(shape, shape_argument)), rank_(&not_null(rank, rank_argument)) {}
  Status set(Ints shape) const;

 private:
  std::int64_t* shape_;
  std::int32_t* rank_;
};

// Fills in a view of a tensor without gaps, which outlives it.
void set_view(backslice_view& view, const Tensor& tensor);

}  // namespace backslice::capi
