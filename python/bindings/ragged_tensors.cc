// RaggedTensor, VariantArray and the operations between them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "backslice/ragged_variant.h"
#include "bindings/arguments.h"
#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "bindings/index.h"
#include "bindings/module.h"
#include "bindings/strings.h"

namespace backslice::python {
namespace {

// The NumPy side of values: their dtype, and which strings they are.
struct ValueType {
  nb::object numpy;
  StringKind strings = StringKind::Unknown;
  bool is_object() const { return reinterpret_cast<PyArray_Descr*>(numpy.ptr())->kind == 'O'; }
};

ValueType value_type(nb::handle dtype) { return {as_numpy_dtype(dtype)}; }

DType dtype_of(const ValueType& type) {
  return type.is_object() ? DType::String : element_type(type.numpy, "Tvalues").dtype;
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

// One list of splits: integers, as int64 where they are a Python list.
Tensor read_split_list(nb::handle object, const std::string& argument) {
  if (PyArray_Check(object.ptr()) || nb::hasattr(object, "__dlpack__")) {
    InputArray input = input_array(object, argument.c_str());
    if (input.type.dtype != DType::Int32 && input.type.dtype != DType::Int64) {
      raise_dtype_error(argument + " has dtype " + nb::str(input.numpy_dtype).c_str() + ", expected int64 or int32");
    }
    return borrowed_tensor(std::move(input));
  }
  const auto list = IntReader().read(object, argument.c_str());
  Tensor splits = unwrap(Tensor::make(DType::Int64, *Shape::make({std::ssize(list)})));
  std::copy(list.begin(), list.end(), splits.elements<std::int64_t>().begin());
  return splits;
}

// One list, or a list of lists from the outermost to the innermost.
std::vector<Tensor> read_nested_splits(nb::handle object, const std::string& argument) {
  const bool is_sequence = PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
  std::int64_t number = 0;
  int overflow = 0;
  if (!is_sequence && read_int(object, number, overflow) && !PyArray_Check(object.ptr())) {
    Tensor scalar = unwrap(Tensor::make(DType::Int64, Shape()));
    scalar.elements<std::int64_t>()[0] = number;
    return {scalar};
  }
  const bool is_nested = is_sequence && (nb::len(object) == 0 || !read_int(object[0], number, overflow) ||
                                         PyArray_Check(nb::object(object[0]).ptr()));
  if (!is_nested) return {read_split_list(object, argument)};
  std::vector<Tensor> lists;
  for (nb::handle item : nb::iter(object)) {
    lists.push_back(read_split_list(item, argument + "[" + std::to_string(lists.size()) + "]"));
  }
  return lists;
}

nb::object group(nb::list items, const RaggedTensor& rt) {
  for (int level = rt.ragged_rank() - 1; level >= 0; --level) {
    nb::list rows;
    const std::int64_t count = rt.nested_row_splits()[static_cast<std::size_t>(level)].shape()[0] - 1;
    for (std::int64_t i = 0; i < count; ++i) {
      rows.append(nb::steal(PyList_GetSlice(items.ptr(), rt.split(level, i), rt.split(level, i + 1))));
    }
    items = rows;
  }
  return items;
}

class PyRagged {
 public:
  PyRagged(RaggedTensor rt, ValueType type) : rt_(std::move(rt)), type_(std::move(type)) {}

  static PyRagged make(nb::handle values, nb::handle nested_row_splits) {
    ValueType type;
    const Tensor tensor = read_values(values, "values", type);
    auto splits = read_nested_splits(nested_row_splits, "nested_row_splits");
    return {unwrap(without_gil([&] { return RaggedTensor::make(tensor, std::move(splits)); })), type};
  }

  const RaggedTensor& rt() const { return rt_; }
  const ValueType& type() const { return type_; }
  nb::object values() const { return values_to_python(rt_.values(), type_); }
  nb::tuple nested_row_splits() const {
    nb::list lists;
    for (const Tensor& splits : rt_.nested_row_splits()) lists.append(splits_to_python(splits));
    return nb::tuple(lists);
  }
  nb::tuple shape() const {
    nb::list dims;
    const Shape& values = rt_.values().shape();
    if (rt_.ragged_rank() > 0) dims.append(rt_.rows());
    for (int level = 0; level < rt_.ragged_rank(); ++level) dims.append(nb::none());
    for (int axis = rt_.ragged_rank() > 0; axis < values.rank(); ++axis) dims.append(values[axis]);
    return nb::tuple(dims);
  }
  std::int64_t size() const {
    if (rt_.values().shape().rank() == 0) raise_dtype_error("a scalar has no rows");
    return rt_.rows();
  }
  nb::object to_list() const {
    const nb::object items = values().attr("tolist")();
    return rt_.ragged_rank() == 0 ? items : group(nb::list(items), rt_);
  }
  nb::object get(nb::handle index) const {
    std::int64_t i = 0;
    int overflow = 0;
    if (read_int(index, i, overflow)) {
      const std::int64_t rows = size();
      if (i < -rows || i >= rows) {
        raise_out_of_range("row " + repr_text(index) + " is out of bounds for " + std::to_string(rows) + " rows");
      }
      return to_python(unwrap(rt_.row(i < 0 ? i + rows : i)), type_);
    }
    const Selection rows = read_rows(index);
    return nb::cast(PyRagged(unwrap(without_gil([&] { return ragged_slice(rt_, rows); })), type_));
  }
  nb::object slice_grad(nb::handle index, nb::handle grad) const {
    const Selection rows = read_rows(index);
    const nb::object values =
        nb::isinstance<PyRagged>(grad) ? nb::cast<const PyRagged&>(grad).values() : nb::borrow(grad);
    const InputArray input = input_array(values, "grad");
    return to_numpy(unwrap(without_gil([&] { return ragged_slice_grad(rt_, rows, input.view); })), input.numpy_dtype);
  }
  bool equals(nb::handle other) const {
    if (!nb::isinstance<PyRagged>(other)) return false;
    const auto& b = nb::cast<const PyRagged&>(other);
    if (rt_.ragged_rank() != b.rt_.ragged_rank()) return false;
    const nb::object equal = nb::module_::import_("numpy").attr("array_equal");
    if (!nb::cast<bool>(equal(values(), b.values()))) return false;
    const nb::tuple mine = nested_row_splits(), theirs = b.nested_row_splits();
    for (std::size_t i = 0; i < nb::len(mine); ++i) {
      if (!nb::cast<bool>(equal(mine[i], theirs[i]))) return false;
    }
    return true;
  }
  std::string repr() const {
    constexpr std::int64_t kRows = 8;
    const std::int64_t rows = rt_.ragged_rank() == 0 ? 0 : rt_.rows();
    const bool is_long = rows > kRows;
    const nb::object shown = is_long ? PyRagged(unwrap(rt_.slice_rows(0, kRows)), type_).to_list() : to_list();
    std::string text = repr_text(shown);
    if (text.size() > 400) text = text.substr(0, 400) + " ...]";
    if (is_long) text = text.substr(0, text.size() - 1) + ", ... " + std::to_string(rows - kRows) + " more rows]";
    return "RaggedTensor(" + text + ", shape " + repr_text(shape()) + ", dtype " + nb::str(type_.numpy).c_str() + ")";
  }

  // Ragged rank 0 is an array.
  static nb::object to_python(RaggedTensor rt, const ValueType& type) {
    if (rt.ragged_rank() == 0) return values_to_python(rt.values(), type);
    return nb::cast(PyRagged(std::move(rt), type));
  }

 private:
  Selection read_rows(nb::handle index) const { return read_selection({size()}, index); }

  RaggedTensor rt_;
  ValueType type_;
};

// A RaggedTensor, or an array, which has ragged rank 0.
RaggedTensor read_ragged(nb::handle object, const char* argument, ValueType& type) {
  if (nb::isinstance<PyRagged>(object)) {
    const auto& ragged = nb::cast<const PyRagged&>(object);
    type = ragged.type();
    return ragged.rt();
  }
  return unwrap(RaggedTensor::make(read_values(object, argument, type), {}));
}

class PyVariants {
 public:
  PyVariants(VariantArray array, std::vector<ValueType> types) : array_(std::move(array)), types_(std::move(types)) {
    for (const ValueType& type : types_) {
      if (!type.numpy.is_valid()) continue;
      if (!first_) first_ = type;
      uniform_ &= type.numpy.is(first_->numpy) || same_dtype(type.numpy, first_->numpy);
    }
  }

  static PyVariants make(nb::handle elements, nb::handle shape) {
    if (!PyList_Check(elements.ptr()) && !PyTuple_Check(elements.ptr())) {
      raise_dtype_error("elements is a " + type_text(elements) + ", expected a list of RaggedTensors, arrays and None");
    }
    std::vector<std::optional<RaggedTensor>> list;
    std::vector<ValueType> types;
    for (nb::handle item : nb::iter(elements)) {
      ValueType type;
      if (item.is_none()) {
        list.push_back(std::nullopt);
      } else {
        list.push_back(read_ragged(item, ("elements[" + std::to_string(list.size()) + "]").c_str(), type));
      }
      types.push_back(type);
    }
    const auto dims = shape.is_none() ? std::vector<std::int64_t>{std::ssize(list)} : read_shape(shape, "shape");
    return {unwrap(VariantArray::make(std::move(list), dims)), std::move(types)};
  }

  const VariantArray& array() const { return array_; }
  nb::tuple shape() const { return to_tuple(array_.shape()); }
  std::int64_t length() const {
    if (array_.shape().rank() == 0) raise_dtype_error("a VariantArray of shape () has no length");
    return array_.shape()[0];
  }
  nb::object get(nb::handle index) const {
    nb::tuple indices = PyTuple_Check(index.ptr()) ? nb::cast<nb::tuple>(index) : nb::make_tuple(index);
    const int rank = array_.shape().rank();
    if (static_cast<int>(nb::len(indices)) != rank) {
      raise_invalid_argument("a VariantArray of shape " + repr_text(shape()) + " is indexed with " +
                             std::to_string(rank) + " integers, got " + repr_text(index));
    }
    std::int64_t flat = 0;
    for (int axis = 0; axis < rank; ++axis) {
      std::int64_t i = 0;
      int overflow = 0;
      if (!read_int(indices[axis], i, overflow)) raise_dtype_error("index " + repr_text(index) + " is not an integer");
      const std::int64_t n = array_.shape()[axis];
      if (i < -n || i >= n)
        raise_out_of_range("index " + repr_text(index) + " is out of bounds for shape " + repr_text(shape()));
      flat = flat * n + (i < 0 ? i + n : i);
    }
    return element(flat);
  }
  nb::object element(std::int64_t flat) const {
    auto element = unwrap(array_.at(flat));
    if (!element) return nb::none();
    return PyRagged::to_python(*std::move(element), type_of(flat));
  }
  nb::object iterate() const {
    nb::list items;
    for (std::int64_t i = 0; i < array_.size(); ++i) items.append(element(i));
    return items.attr("__iter__")();
  }
  PyVariants reshape(nb::handle shape) const { return {unwrap(array_.reshape(read_shape(shape, "shape"))), types_}; }
  std::string repr() const {
    std::int64_t missing = 0;
    for (std::int64_t i = 0; array_.has_missing() && i < array_.size(); ++i) missing += array_.piece(i).missing;
    return "VariantArray(shape " + repr_text(shape()) + ", " + std::to_string(missing) + " missing)";
  }

  const ValueType& type_of(std::int64_t flat) const {
    return types_[array_.batch() != nullptr ? 0 : static_cast<std::size_t>(flat)];
  }

  // The first element that is there and not of this dtype.
  std::optional<std::int64_t> first_of_another_type(nb::handle dtype) const {
    if (uniform_ && (!first_ || same_dtype(first_->numpy, dtype))) return std::nullopt;
    for (std::size_t i = 0; i < types_.size(); ++i) {
      if (types_[i].numpy.is_valid() && !same_dtype(types_[i].numpy, dtype)) return static_cast<std::int64_t>(i);
    }
    return std::nullopt;
  }

  // The type of the first element that is there.
  const std::optional<ValueType>& first_type() const { return first_; }

 private:
  VariantArray array_;
  std::vector<ValueType> types_;  // one for a batch, else one an element, empty for missing ones
  std::optional<ValueType> first_;
  bool uniform_ = true;  // all that are there have one dtype
};

// Moves of opaque items know only their size: two dtypes must not pass for one.
void check_types(const PyVariants& encoded, const std::optional<ValueType>& given, const char* what) {
  const std::optional<ValueType> expected = given ? given : encoded.first_type();
  if (!expected) return;
  const auto other = encoded.first_of_another_type(expected->numpy);
  if (!other) return;
  raise_dtype_error(std::string(what) + " " + std::to_string(*other) + " has dtype " +
                    nb::str(encoded.type_of(*other).numpy).c_str() + ", expected " + nb::str(expected->numpy).c_str());
}

const PyVariants& read_variants(nb::handle object, const char* argument) {
  if (nb::isinstance<PyVariants>(object)) return nb::cast<const PyVariants&>(object);
  raise_dtype_error(std::string(argument) + " is a " + type_text(object) + ", expected a VariantArray");
}

std::optional<ValueType> read_type(nb::handle dtype, const PyVariants& encoded) {
  if (dtype.is_none()) return std::nullopt;
  ValueType type = value_type(dtype);
  if (const auto first = encoded.first_type(); first && type.is_object()) type.strings = first->strings;
  return type;
}

PyVariants py_to_variant(nb::handle rt, nb::handle batched_input) {
  ValueType type;
  const RaggedTensor ragged = read_ragged(rt, "rt", type);
  return {unwrap(ragged_tensor_to_variant(ragged, read_flag(batched_input, "batched_input"))), {type}};
}

int read_rank(nb::handle object, const char* argument) {
  std::int64_t value = 0;
  int overflow = 0;
  if (!read_int(object, value, overflow)) {
    raise_dtype_error(std::string(argument) + " is " + repr_text(object) + ", expected an int");
  }
  if (value < -1 || value > 1000)
    raise_invalid_argument(std::string(argument) + " is " + repr_text(object) + ", which is no ragged rank");
  return static_cast<int>(value);
}

nb::object py_from_variant(nb::handle encoded, nb::handle input_ragged_rank, nb::handle output_ragged_rank,
                           nb::handle Tvalues, nb::handle Tsplits) {
  const PyVariants& variants = read_variants(encoded, "encoded");
  const int in = read_rank(input_ragged_rank, "input_ragged_rank"),
            out = read_rank(output_ragged_rank, "output_ragged_rank");
  const auto given = read_type(Tvalues, variants);
  check_types(variants, given, "element");
  FromVariantTypes types;
  if (given) {
    types.values = dtype_of(*given);
    if (!given->is_object()) types.item_size = element_type(given->numpy, "Tvalues").item_size;
  }
  if (!Tsplits.is_none()) {
    const ElementType splits = element_type(value_type(Tsplits).numpy, "Tsplits");
    types.splits = splits.dtype;
  }
  RaggedTensor result =
      unwrap(without_gil([&] { return ragged_tensor_from_variant(variants.array(), in, out, types); }));
  const ValueType type = given ? *given : *variants.first_type();
  return nb::cast(PyRagged(std::move(result), type));
}

nb::object py_to_variant_gradient(nb::handle encoded_ragged_grad, nb::handle row_splits, nb::handle dense_values_shape,
                                  nb::handle Tvalues) {
  const PyVariants& variants = read_variants(encoded_ragged_grad, "encoded_ragged_grad");
  const auto shape = IntReader{NPY_INT32, NPY_INT64}.read(dense_values_shape, "dense_values_shape");
  const auto splits = read_nested_splits(row_splits, "row_splits");
  const auto given = read_type(Tvalues, variants);
  check_types(variants, given, "piece");
  const std::optional<ValueType> type = given ? given : variants.first_type();
  const std::optional<DType> dtype = given ? std::optional(dtype_of(*given)) : std::nullopt;
  Tensor result =
      unwrap(without_gil([&] { return ragged_tensor_to_variant_gradient(variants.array(), splits, shape, dtype); }));
  return values_to_python(result, *type);
}

PyVariants py_from_variant_gradient(nb::handle decoded, nb::handle encoded_shape) {
  ValueType type;
  const RaggedTensor ragged = read_ragged(decoded, "decoded", type);
  return {unwrap(ragged_tensor_from_variant_gradient(ragged, read_shape(encoded_shape, "encoded_shape"))), {type}};
}

}  // namespace

void bind_ragged_tensors(nb::module_& m) {
  nb::class_<PyRagged>(m, "RaggedTensor", "Rows of different lengths, to any depth: values, and splits between rows.")
      .def(
          "__init__",
          [](PyRagged* self, nb::handle values, nb::handle nested_row_splits) {
            new (self) PyRagged(PyRagged::make(values, nested_row_splits));
          },
          any("values"), any("nested_row_splits"))
      .def_static(
          "from_row_lengths",
          [](nb::handle values, nb::args lengths) {
            return nb::module_::import_("backslice.ragged").attr("from_row_lengths")(values, *lengths);
          },
          any("values"), nb::arg("nested_row_lengths"), "From the lengths of the rows, outermost list first.")
      .def_static(
          "from_list",
          [](nb::handle rows, nb::handle dtype, nb::handle ragged_rank) {
            return nb::module_::import_("backslice.ragged").attr("from_list")(rows, dtype, ragged_rank);
          },
          any("rows"), any("dtype") = nb::none(), any("ragged_rank") = nb::none(), "From nested lists.")
      .def_prop_ro("values", &PyRagged::values, "The values, one after the other, as a read-only view.")
      .def_prop_ro("nested_row_splits", &PyRagged::nested_row_splits,
                   "The splits, from the outermost to the innermost.")
      .def_prop_ro(
          "ragged_rank", [](const PyRagged& self) { return self.rt().ragged_rank(); }, "How many lists of splits.")
      .def_prop_ro("shape", &PyRagged::shape, "The shape, None where rows differ.")
      .def_prop_ro(
          "dtype", [](const PyRagged& self) { return self.type().numpy; }, "The NumPy dtype of the values.")
      .def("to_list", &PyRagged::to_list, "The rows as nested lists.")
      .def("slice_grad", &PyRagged::slice_grad, any("index"), any("grad"),
           "The gradient of self[index] with respect to self.values.")
      .def("__len__", &PyRagged::size)
      .def("__getitem__", &PyRagged::get, any("index"))
      .def("__eq__", &PyRagged::equals)
      .def("_repr_svg_", [](nb::handle self) { return picture_of(self, "svg"); })
      .def("_repr_html_", [](nb::handle self) { return picture_of(self, "html"); })
      .def("__repr__", &PyRagged::repr)
      .attr("__hash__") = nb::none();  // as Python has it for classes with an __eq__
  nb::class_<PyVariants>(m, "VariantArray", "Ragged tensors as the elements of an array, or None in their place.")
      .def(
          "__init__",
          [](PyVariants* self, nb::handle elements, nb::handle shape) {
            new (self) PyVariants(PyVariants::make(elements, shape));
          },
          any("elements"), any("shape") = nb::none())
      .def_prop_ro("shape", &PyVariants::shape, "The shape of the array.")
      .def("reshape", &PyVariants::reshape, any("shape"), "The same elements in another shape.")
      .def("__len__", &PyVariants::length)
      .def("__getitem__", &PyVariants::get, any("index"))
      .def("__iter__", &PyVariants::iterate)
      .def("__repr__", &PyVariants::repr);
  m.def("ragged_tensor_to_variant", py_to_variant, any("rt"), any("batched_input") = true,
        "TensorFlow's RaggedTensorToVariant: one element a row, or one that holds all.");
  m.def("ragged_tensor_from_variant", py_from_variant, any("encoded"), any("input_ragged_rank"),
        any("output_ragged_rank"), any("Tvalues") = nb::none(), any("Tsplits") = nb::none(),
        "TensorFlow's RaggedTensorFromVariant: the elements as rows of one ragged tensor.");
  m.def(
      "ragged_tensor_to_variant_gradient", py_to_variant_gradient, any("encoded_ragged_grad"), any("row_splits"),
      any("dense_values_shape"), any("Tvalues") = nb::none(),
      "TensorFlow's RaggedTensorToVariantGradient: the pieces one after the other, zeros for those that are missing.\n"
      "row_splits may be the list of all nested splits.");
  m.def(
      "ragged_tensor_from_variant_gradient", py_from_variant_gradient, any("decoded"), any("encoded_shape"),
      "The gradient of ragged_tensor_from_variant: what it returned, with the gradient as its values, encoded again.");
}

}  // namespace backslice::python
