#include "bindings/ragged_values.h"

#include "bindings/arguments.h"
#include "bindings/errors.h"

namespace backslice::python {

ValueType value_type(nb::handle dtype) {
  ValueType type{as_numpy_dtype(dtype)};
  const auto* descr = reinterpret_cast<PyArray_Descr*>(type.numpy.ptr());
  if ((descr->kind != 'U' && descr->kind != 'S') || PyDataType_ELSIZE(descr) > 0) return type;
  return {as_numpy_dtype(nb::str("object")), descr->kind == 'U' ? StringKind::Str : StringKind::Bytes};
}

ValuesType values_type(const ValueType& type) {
  if (type.is_object()) return DType::String;
  const ElementType element = element_type(type.numpy, "Tvalues");
  return {element.dtype, element.item_size};
}

Tensor read_values(nb::handle values, const char* argument, ValueType& type) {
  InputArray input = input_array(values, argument);
  type.numpy = input.numpy_dtype;
  if (input.type.is_object) return strings_from_objects(input, argument, type.strings);
  return borrowed_tensor(std::move(input));
}

nb::object values_to_python(const Tensor& values, const ValueType& type) {
  if (values.dtype() == DType::String) return objects_from_strings(values, type.strings);
  return to_read_only_numpy(values, type.numpy);
}

nb::object splits_to_python(const Tensor& splits) {
  return to_read_only_numpy(splits, as_numpy_dtype(nb::str(splits.dtype() == DType::Int32 ? "int32" : "int64")));
}

namespace {

// One list of splits: integers, as int64 where they are a Python list.
Tensor read_split_list(nb::handle object, const std::string& argument) {
  if (PyArray_Check(object.ptr()) || has_attribute(object, "__dlpack__")) {
    InputArray input = input_array(object, argument.c_str());
    if (input.type.dtype != DType::Int32 && input.type.dtype != DType::Int64) {
      raise_dtype_error(argument + " has dtype " + str_text(input.numpy_dtype) + ", expected int64 or int32");
    }
    return borrowed_tensor(std::move(input));
  }
  const auto list = IntReader().read(object, argument.c_str());
  Tensor splits = unwrap(Tensor::make(DType::Int64, *Shape::make({std::ssize(list)})));
  std::copy(list.begin(), list.end(), splits.elements<std::int64_t>().begin());
  return splits;
}

}  // namespace

std::vector<Tensor> read_nested_splits(nb::handle object, const std::string& argument) {
  const bool is_sequence = PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
  std::int64_t number = 0;
  int overflow = 0;
  if (!is_sequence && read_int(object, number, overflow) && !PyArray_Check(object.ptr())) {
    Tensor scalar = unwrap(Tensor::make(DType::Int64, Shape()));
    scalar.elements<std::int64_t>()[0] = number;
    return {scalar};
  }
  if (!is_sequence) return {read_split_list(object, argument)};
  const auto items = nb::borrow<nb::tuple>(items_of(object));
  const nb::handle first = items.size() > 0 ? PyTuple_GET_ITEM(items.ptr(), 0) : nullptr;
  if (first && read_int(first, number, overflow) && !PyArray_Check(first.ptr())) {
    return {read_split_list(items, argument)};
  }
  std::vector<Tensor> lists;
  for (nb::handle item : items) {
    lists.push_back(read_split_list(item, argument + "[" + std::to_string(lists.size()) + "]"));
  }
  return lists;
}

}  // namespace backslice::python
