#include "bindings/ragged_values.h"

#include "bindings/arguments.h"
#include "bindings/call_context.h"
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

Tensor values_of(const ArrayArgument& values, ValueType& type) {
  type.numpy = values.numpy_dtype();
  type.place = values.place();
  if (values.is_object()) return strings_from_objects(values.view(), values.name().c_str(), type.strings);
  if (values.is_on_device()) (void)values.is_kept_for_call();  // otherwise the caller keeps them alive (docs/cuda.md)
  return values.held();
}

nb::object values_to_python(const Tensor& values, const ValueType& type) {
  if (values.dtype() == DType::String) return objects_from_strings(values, type.strings);
  if (!values.device().is_cpu()) return shared_array(values, type.numpy, type.place, {});
  return to_read_only_numpy(values, type.numpy);
}

nb::object splits_to_python(const Tensor& splits) {
  return to_read_only_numpy(splits, as_numpy_dtype(nb::str(splits.dtype() == DType::Int32 ? "int32" : "int64")));
}

namespace {

// Reads one list of splits: an array of integers; a Python list is read as int64.
std::variant<ArrayArgument, Tensor> read_split_list(nb::handle object, const std::string& argument, CallContext* call) {
  const bool is_array = PyArray_Check(object.ptr()) || has_attribute(object, "__dlpack__") ||
                        has_attribute(object, "__cuda_array_interface__");
  if (is_array) {
    ArrayArgument array(object, argument, call);
    const DType dtype = element_type(array.numpy_dtype(), argument.c_str()).dtype;
    if (dtype == DType::Int32 || dtype == DType::Int64) return array;
    raise_dtype_error(argument + " has dtype " + str_text(array.numpy_dtype()) + ", expected int64 or int32");
  }
  const auto list = IntReader().read(object, argument.c_str());
  return unwrap(Tensor::copy_of(list, {std::ssize(list)}));
}

bool read_plain_int(nb::handle object, std::int64_t& number) {
  int overflow = 0;
  return !PyArray_Check(object.ptr()) && find_int(object, number, overflow);
}

}  // namespace

NestedSplits::NestedSplits(nb::handle object, const std::string& argument, CallContext* call) {
  const bool is_sequence = PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
  std::int64_t number = 0;
  if (!is_sequence && read_plain_int(object, number)) {
    lists_.emplace_back(unwrap(Tensor::copy_of({number}, {})));
    return;
  }
  const auto items = is_sequence ? nb::borrow<nb::tuple>(items_of(object)) : nb::tuple();
  if (!is_sequence || (items.size() > 0 && read_plain_int(PyTuple_GET_ITEM(items.ptr(), 0), number))) {
    lists_.push_back(read_split_list(is_sequence ? nb::handle(items) : object, argument, call));
    return;
  }
  for (nb::handle item : items) {
    lists_.push_back(read_split_list(item, argument + "[" + std::to_string(lists_.size()) + "]", call));
  }
}

std::vector<Tensor> NestedSplits::tensors() const {
  std::vector<Tensor> tensors;
  for (const auto& list : lists_) {
    const auto* array = std::get_if<ArrayArgument>(&list);
    tensors.push_back(array != nullptr ? array->held() : std::get<Tensor>(list));
  }
  return tensors;
}

}  // namespace backslice::python
