#include "capi/arguments.h"

#include <algorithm>

#include "capi/structs.h"

namespace backslice::capi {

std::string text(const Argument& argument) {
  if (argument.index >= 0) return join(argument.name, "[", argument.index, "]");
  return argument.field == nullptr ? argument.name : join(argument.name, ".", argument.field);
}

void refuse_struct_size(const Argument& argument, std::size_t found, std::size_t expected) {
  constexpr std::size_t kPlausible = 65536;
  const bool newer = found > expected && found < kPlausible && found % alignof(std::size_t) == 0;
  refuse(
      invalid_argument(
          text(argument), ".struct_size is ", found, ", expected ", expected, ": ",
          newer
              ? "the program was compiled with the header of a newer backslice than the library that is loaded; update "
                "the library"
              : "the struct was not initialised; begin with its BACKSLICE_..._INIT")
          .at(text(argument)));
}

// All numbers have a name here, but for the std::string elements of C++.
static_assert(BACKSLICE_QINT32 + 1 == static_cast<int>(DType::String));
static_assert(BACKSLICE_BYTES == static_cast<int>(DType::String) + 1 && BACKSLICE_STRING == BACKSLICE_BYTES + 1);
static_assert(BACKSLICE_STRING == static_cast<int>(DType::StringView));

void refuse_dtype(std::int32_t number, const Argument& argument, const char* field) {
  refuse(dtype_error(text(argument), field, " is ", number, ", which is not an element type of C in this version: ",
                     "those are 0 to ", int{BACKSLICE_QINT32}, ", BACKSLICE_BYTES (", int{BACKSLICE_BYTES},
                     ") and BACKSLICE_STRING (", int{BACKSLICE_STRING}, ")")
             .at(text(argument)));
}

Write write_of(std::int32_t number) {
  switch (number) {
    case BACKSLICE_OVERWRITE: return Write::Overwrite;
    case BACKSLICE_INTO_ZEROS: return Write::IntoZeros;
    case BACKSLICE_ACCUMULATE: return Write::Accumulate;
    default: break;
  }
  refuse(invalid_argument("write is ", number,
                          ", expected BACKSLICE_OVERWRITE (0), BACKSLICE_INTO_ZEROS (1) or BACKSLICE_ACCUMULATE (2)")
             .at("write"));
}

bool flag_of(std::int32_t number, const Argument& argument) {
  if (number != 0 && number != 1) {
    refuse(invalid_argument(text(argument), " is ", number, ", expected 0 or 1").at(text(argument)));
  }
  return number == 1;
}

void refuse_sized(std::int64_t size, const Argument& argument) {
  const bool has_size = size >= 0 && size <= kMostItems;
  refuse((has_size ? invalid_argument(text(argument), ".data is NULL, but ", text(argument), ".size is ", size)
                   : invalid_argument(text(argument), ".size is ", size, ", expected 0 to ", kMostItems))
             .at(text(argument)));
}

std::optional<Ints> optional_ints_of(const backslice_ints& list, const Argument& argument) {
  if (list.data == nullptr && list.size == 0) return std::nullopt;
  return ints_of(list, argument);
}

Shape shape_of(const backslice_ints& list, const char* argument) {
  return unwrap(Shape::make(ints_of(list, argument), argument));
}

PartialShape partial_shape_of(const backslice_ints& list, const char* argument) {
  const auto dims = optional_ints_of(list, argument);
  return dims ? unwrap(PartialShape::make(*dims, argument)) : PartialShape();
}

std::string_view text_of(const backslice_string& string, const Argument& argument) {
  const bool has_size = string.size >= 0 && string.size <= kMostItems;
  if (!has_size || (string.size > 0 && string.data == nullptr)) refuse_sized(string.size, argument);
  return {string.data, static_cast<std::size_t>(string.size)};
}

namespace {

std::vector<std::int64_t> vector_of(const backslice_ints& list, const char* field) {
  const Ints given = ints_of(list, field);
  return {given.begin(), given.end()};
}

std::optional<std::vector<std::int64_t>> optional_vector_of(const backslice_ints& list, const char* field) {
  const auto given = optional_ints_of(list, field);
  return given ? std::optional(std::vector(given->begin(), given->end())) : std::nullopt;
}

}  // namespace

TfLists tf_lists_of(const backslice_tf_slice* spec) {
  backslice_tf_slice filled;
  const backslice_tf_slice& given = given_struct(spec, "spec", filled);
  return {.begin = ints_of(given.begin, "begin"),
          .end = ints_of(given.end, "end"),
          .strides = ints_of(given.strides, "strides"),
          .begin_mask = given.begin_mask,
          .end_mask = given.end_mask,
          .ellipsis_mask = given.ellipsis_mask,
          .new_axis_mask = given.new_axis_mask,
          .shrink_axis_mask = given.shrink_axis_mask};
}

OnnxSlice onnx_slice_of(const backslice_onnx_slice* spec) {
  const backslice_onnx_slice given = given_struct(spec, "spec");
  return {.starts = vector_of(given.starts, "starts"),
          .ends = vector_of(given.ends, "ends"),
          .axes = optional_vector_of(given.axes, "axes"),
          .steps = optional_vector_of(given.steps, "steps")};
}

Status ShapeOut::set(Ints shape) const {
  std::copy(shape.begin(), shape.end(), shape_);
  *rank_ = static_cast<std::int32_t>(shape.size());
  return Status();
}

void refuse_device(std::int32_t type, std::int32_t id, const Argument& argument) {
  refuse(unimplemented(text(argument), " names device ", type, ":", id,
                       " (DLPack's numbers), expected the CPU, 1:0, or a CUDA device, 2:0 and so on")
             .at(text(argument)));
}

void set_device(std::int32_t& type, std::int32_t& id, Device device) {
  type = device.is_cpu() ? BACKSLICE_CPU : BACKSLICE_CUDA;
  id = device.ordinal;
}

}  // namespace backslice::capi
