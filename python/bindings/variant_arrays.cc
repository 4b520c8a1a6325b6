// VariantArray and the operations between it and RaggedTensor.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <limits>

#include "backslice/cuda.h"
#include "bindings/arguments.h"
#include "bindings/call_context.h"
#include "bindings/errors.h"
#include "bindings/index.h"
#include "bindings/instances.h"
#include "bindings/module.h"
#include "bindings/protocols.h"
#include "bindings/py_ragged.h"
#include "bindings/results.h"
#include "bindings/signatures.h"
#include "core/errors.h"
#include "ops/checks.h"
#include "ragged/named.h"

namespace backslice::python {
namespace {

// Which strings the elements of an array are: all str or all bytes. Elements without strings fit both.
class OneKind {
 public:
  void add(StringKind kind, const std::string& argument) {
    if (kind == StringKind::Unknown || kind == kind_) return;
    if (kind_ != StringKind::Unknown) {
      raise_dtype_error(argument + " holds " + text_of(kind) + ", but " + first_ + " holds " + text_of(kind_) +
                        "; use one of them");
    }
    kind_ = kind;
    first_ = argument;
  }
  StringKind kind() const { return kind_; }

 private:
  StringKind kind_ = StringKind::Unknown;
  std::string first_;  // the argument that decided
};

// The elements of an array, read but not viewed yet.
struct GivenElements {
  std::vector<std::optional<RaggedArgument>> list;

  GivenElements(nb::handle elements, CallContext& call) {
    const auto items = nb::borrow<nb::tuple>(items_of(elements));
    list.reserve(items.size());
    for (nb::handle item : items) {
      auto& element = list.emplace_back();
      if (!item.is_none()) element.emplace(item, name_of(list.size() - 1), call);
    }
  }

  // `types` are empty for missing elements.
  std::vector<std::optional<RaggedTensor>> tensors(std::vector<ValueType>& types) const {
    std::vector<std::optional<RaggedTensor>> tensors(list.size());
    types.resize(list.size());
    OneKind kind;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i]) continue;
      tensors[i] = list[i]->tensor(types[i]);
      if (types[i].strings != StringKind::Unknown) kind.add(types[i].strings, name_of(i));
    }
    for (ValueType& type : types) type.strings = kind.kind();
    return tensors;
  }

 private:
  static std::string name_of(std::size_t i) { return "elements[" + std::to_string(i) + "]"; }
};

class PyVariants {
 public:
  PyVariants(VariantArray array, std::vector<ValueType> types) : array_(std::move(array)), types_(std::move(types)) {
    for (const ValueType& type : types_) {
      if (!type.numpy.is_valid()) continue;
      if (!first_) first_ = type;
      uniform_ &= type.numpy.is(first_->numpy) || same_dtype(type.numpy, first_->numpy);
      add_place(type.place);
    }
  }

  static PyVariants make(nb::handle elements, nb::handle shape) {
    if (!PyList_Check(elements.ptr()) && !PyTuple_Check(elements.ptr())) {
      raise_dtype_error("elements is a " + type_text(elements) + ", expected a list of RaggedTensors, arrays and None");
    }
    CallContext call;
    const GivenElements given(elements, call);
    const auto dims = shape.is_none() ? std::vector<std::int64_t>{std::ssize(given.list)} : read_shape(shape, "shape");
    std::vector<ValueType> types;
    auto list = given.tensors(types);
    return {unwrap(VariantArray::make(std::move(list), dims)), std::move(types)};
  }

  const VariantArray& array() const { return array_; }
  Place place() const { return first_ ? first_->place : Place(); }
  std::string device() const { return place().is_cpu() ? "cpu" : to_string(place().device); }

  // A call runs where the first element is, and waits where elements of other libraries are read.
  void run_here(CallContext& call, const char* argument) const {
    call.run_on(place(), argument);
    for (const Place& other : places_) call.use_part(other);
  }

  // What a call reads of the elements' memory is kept until that is done.
  void keep_for(const CallContext& call) const {
    if (place().is_cpu()) return;
    const std::int64_t count = array_.batch() != nullptr ? std::min<std::int64_t>(array_.size(), 1) : array_.size();
    const Buffer* last = nullptr;
    for (std::int64_t i = 0; i < count; ++i) {
      if (array_.piece(i).missing) continue;
      const Buffer& buffer = array_.buffer(i);
      if (last == nullptr || !buffer.is_same_block(*last)) check(cuda_keep(buffer, call.stream));
      last = &buffer;
    }
  }
  nb::tuple shape() const { return to_tuple(array_.shape()); }
  std::int64_t length() const {
    if (array_.shape().rank() == 0) raise_dtype_error("a VariantArray of shape () has no length");
    return array_.shape()[0];
  }
  // An element, or an array of those that a partial index or slices take.
  nb::object get(nb::handle index) const {
    const Selection selection = read_selection(array_.shape(), index);
    const std::vector<std::int64_t> taken = positions(selection);
    if (selection.result_shape().rank() == 0) return element(taken[0]);
    return nb::cast(part(taken, selection.result_shape()));
  }
  nb::object element(std::int64_t flat) const {
    auto element = unwrap(array_.at(flat));
    if (!element) return nb::none();
    return PyRagged::to_python(*std::move(element), type_of(flat));
  }
  // All elements in order, each made when it is asked for.
  nb::object iterate() const {
    const nb::object flat = nb::cast(PyVariants(unwrap(array_.reshape({array_.size()})), types_));
    const nb::object range = call(reinterpret_cast<PyObject*>(&PyRange_Type), nb::int_(array_.size()));
    return call_with(reinterpret_cast<PyObject*>(&PyMap_Type), nb::make_tuple(attribute(flat, "__getitem__"), range));
  }
  PyVariants reshape(nb::handle shape) const { return {unwrap(array_.reshape(read_shape(shape, "shape"))), types_}; }
  std::string repr() const {
    std::int64_t missing = 0;
    for (std::int64_t i = 0; array_.has_missing() && i < array_.size(); ++i) missing += array_.piece(i).missing;
    const std::string dtype = !first_ ? "" : uniform_ ? "dtype " + str_text(first_->numpy) + ", " : "several dtypes, ";
    return "VariantArray(shape " + repr_text(shape()) + ", " + dtype + shown_ranks() + std::to_string(missing) +
           " missing" + (place().is_cpu() ? "" : ", " + device()) + ")";
  }

  // The ragged tensor whose rows these are, in whatever shape; or None.
  nb::object batch() const {
    if (array_.batch() == nullptr) return nb::none();
    return nb::cast(PyRagged(*array_.batch(), types_[0]));
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
  // The flat positions that a selection takes, in its order.
  std::vector<std::int64_t> positions(const Selection& selection) const {
    if (selection.result_shape().elements() == 0) return {};
    std::vector<std::int64_t> flat = {0};
    LongLoop loop;
    for (int axis = 0; axis < selection.shape().rank(); ++axis) {
      const Selection::Axis& taken = selection.axis(axis);
      std::vector<std::int64_t> next;
      next.reserve(flat.size() * static_cast<std::size_t>(taken.count));
      for (const std::int64_t before : flat) {
        for (std::int64_t i = 0; i < taken.count; ++i) {
          loop.step();
          next.push_back(before * selection.shape()[axis] + taken.start + i * taken.step);
        }
      }
      flat = std::move(next);
    }
    return flat;
  }

  PyVariants part(const std::vector<std::int64_t>& flat, const Shape& shape) const {
    const bool are_neighbours =
        !flat.empty() && flat.back() - flat[0] == std::ssize(flat) - 1 && std::is_sorted(flat.begin(), flat.end());
    if (array_.batch() != nullptr && are_neighbours) {
      VariantArray rows = VariantArray::rows_of(unwrap(array_.batch()->slice_rows(flat[0], flat.back() + 1)));
      return {unwrap(rows.reshape(shape)), types_};
    }
    std::vector<std::optional<RaggedTensor>> elements;
    std::vector<ValueType> types;
    LongLoop loop;
    for (const std::int64_t i : flat) {
      loop.step();
      elements.push_back(unwrap(array_.at(i)));
      types.push_back(elements.back() ? type_of(i) : ValueType{});
    }
    return {unwrap(VariantArray::make(std::move(elements), shape)), std::move(types)};
  }

  std::string shown_ranks() const {
    if (const RaggedTensor* batch = array_.batch()) {
      return "ragged rank " + std::to_string(std::max(0, batch->ragged_rank() - 1)) + ", ";
    }
    int least = std::numeric_limits<int>::max(), most = -1;
    for (std::int64_t i = 0; i < array_.size(); ++i) {
      const RaggedTensor* element = array_.listed(i);
      if (element == nullptr) continue;
      least = std::min(least, element->ragged_rank());
      most = std::max(most, element->ragged_rank());
    }
    if (most < 0) return "";
    if (least == most) return "ragged rank " + std::to_string(most) + ", ";
    return "ragged ranks " + std::to_string(least) + " to " + std::to_string(most) + ", ";
  }

  void add_place(const Place& place) {
    if (place.is_cpu()) return;
    const auto is_same = [&](const Place& other) { return other.library.is(place.library); };
    if (std::none_of(places_.begin(), places_.end(), is_same)) places_.push_back(place);
  }

  VariantArray array_;
  std::vector<Place> places_;     // one per library whose arrays on a device are elements
  std::vector<ValueType> types_;  // one for a batch, else one per element, empty for missing ones
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
                    str_text(encoded.type_of(*other).numpy) + ", expected " + str_text(expected->numpy));
}

const PyVariants& read_variants(nb::handle object, const char* argument) {
  if (const auto* variants = find_instance<PyVariants>(object)) return *variants;
  raise_dtype_error(std::string(argument) + " is a " + type_text(object) + ", expected a VariantArray");
}

std::optional<ValueType> read_type(nb::handle dtype, const PyVariants& encoded) {
  if (dtype.is_none()) return std::nullopt;
  ValueType type = value_type(dtype);
  const auto first = encoded.first_type();
  if (!type.is_object() || !first || first->strings == StringKind::Unknown) return type;
  if (type.strings != StringKind::Unknown && type.strings != first->strings) {
    raise_dtype_error(std::string("Tvalues is ") + text_of(type.strings) + ", but the elements hold " +
                      text_of(first->strings));
  }
  type.strings = first->strings;
  return type;
}

PyVariants py_to_variant(nb::handle rt, nb::handle batched_input) {
  ValueType type;
  const bool is_batched = read_flag(batched_input, "batched_input");
  CallContext call;
  const RaggedTensor ragged = RaggedArgument(rt, "rt", call).tensor(type);
  return {unwrap(ragged_tensor_to_variant(ragged, is_batched)), {type}};
}

int read_rank(nb::handle object, const char* argument) {
  int overflow = 0;
  const std::int64_t value = require_int(object, argument, overflow);
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
  if (given) types.values = values_type(*given);
  if (!Tsplits.is_none()) {
    const ElementType splits = element_type(value_type(Tsplits).numpy, "Tsplits");
    types.splits = splits.dtype;
  }
  CallContext context;
  variants.run_here(context, "encoded");
  context.use_device_memory();
  Result<RaggedTensor> made = without_gil([&] {
    return named::ragged_tensor_from_variant(variants.array(), in, out, types, {"Tvalues", "Tsplits"}, context);
  });
  if (!made.ok()) raise(made.status());
  RaggedTensor result = *std::move(made);
  variants.keep_for(context);
  check(without_gil([&] { return context.finish(); }));
  ValueType type = given ? *given : *variants.first_type();
  type.place = variants.place();
  return nb::cast(PyRagged(std::move(result), type));
}

// Where the gradient goes into `out`.
struct GradientOutput {
  const OutputArgument& out;
  Write write;
};

// The gradient into `out`. Strings are made first: those of the library are not Python's.
void fill_gradient(const PyVariants& variants, const std::vector<Tensor>& splits, Ints shape, const ValueType& type,
                   const GradientOutput& to, const CallContext& context) {
  if (!type.is_object()) {
    const View view = to.out.view(type.numpy, element_type(type.numpy, "Tvalues"), "the pieces");
    const nb::object guard = to.out.guard();
    const Status done = without_gil([&] {
      return ragged_tensor_to_variant_gradient_into(variants.array(), splits, shape, view, to.write, context);
    });
    check(in_numpy_terms(done, type.numpy));
    variants.keep_for(context);
    return check(without_gil([&] { return context.finish(); }));
  }
  if (to.write == Write::Accumulate) raise_dtype_error("accumulate: strings cannot be added");
  const View view = to.out.view(type.numpy, element_type(type.numpy, "Tvalues"), "the pieces");
  const Shape expected = unwrap(Shape::make(shape, "dense_values_shape"));
  check(check_output(view, "out", expected, view.dtype, view.layout.item_size, "the pieces"));
  const Tensor strings = unwrap(without_gil(
      [&] { return ragged_tensor_to_variant_gradient(variants.array(), splits, shape, values_type(type), context); }));
  fill_with_strings(to.out.object(), strings, type.strings);
}

nb::object py_to_variant_gradient(nb::handle encoded_ragged_grad, nb::handle row_splits, nb::handle dense_values_shape,
                                  nb::handle Tvalues, nb::handle out, nb::handle accumulate) {
  const Write write = read_write(accumulate, out);
  const PyVariants& variants = read_variants(encoded_ragged_grad, "encoded_ragged_grad");
  const auto shape = IntReader{NPY_INT32, NPY_INT64}.read(dense_values_shape, "dense_values_shape");
  CallContext context;
  variants.run_here(context, "encoded_ragged_grad");
  const NestedSplits given_splits(row_splits, "row_splits", &context);
  const OutputArgument output(out, &context);
  const auto given = read_type(Tvalues, variants);
  check_types(variants, given, "piece");
  std::optional<ValueType> type = given ? given : variants.first_type();
  // Where all pieces are missing, the splits decide; strings are on the CPU alone.
  const bool is_where_splits_are = !variants.first_type() && type && !type->is_object();
  if (type) type->place = is_where_splits_are ? context.place() : variants.place();
  const auto values = given ? std::optional(values_type(*given)) : std::nullopt;
  if (!variants.place().is_cpu() || is_where_splits_are) context.use_device_memory();
  const auto splits = given_splits.tensors();
  if (type && !out.is_none()) {
    fill_gradient(variants, splits, shape, *type, {output, write}, context);
    return nb::borrow(out);
  }
  Tensor result = unwrap(
      without_gil([&] { return ragged_tensor_to_variant_gradient(variants.array(), splits, shape, values, context); }));
  variants.keep_for(context);
  check(without_gil([&] { return context.finish(); }));
  return values_to_python(result, *type);
}

PyVariants py_from_variant_gradient(nb::handle decoded, nb::handle encoded_shape) {
  ValueType type;
  const auto shape = read_shape(encoded_shape, "encoded_shape");
  CallContext call;
  const RaggedTensor ragged = RaggedArgument(decoded, "decoded", call).tensor(type);
  return {unwrap(ragged_tensor_from_variant_gradient(ragged, shape)), {type}};
}

}  // namespace

void bind_variant_arrays(nb::module_& m) {
  nb::class_<PyVariants>(m, "VariantArray", class_doc("VariantArray"))
      .def("__init__", [](PyVariants* self, nb::handle elements,
                          nb::handle shape) { new (self) PyVariants(PyVariants::make(elements, shape)); })
      .def_prop_ro("shape", &PyVariants::shape)
      .def_prop_ro("device", &PyVariants::device)
      .def("reshape", &PyVariants::reshape)
      .def("__len__", &PyVariants::length)
      .def("__getitem__", &PyVariants::get)
      .def("__iter__", &PyVariants::iterate)
      .def_prop_ro("_batch", &PyVariants::batch)
      .def("__reduce__", reduced)
      .def("__array__",
           [](nb::handle, nb::handle, nb::handle) {
             raise_dtype_error("a VariantArray is not one array: use its elements, such as a[0], or list(a)");
           })
      .def("__repr__", &PyVariants::repr);
  m.def("ragged_tensor_to_variant", py_to_variant);
  m.def("ragged_tensor_from_variant", py_from_variant);
  m.def("ragged_tensor_to_variant_gradient", py_to_variant_gradient);
  m.def("ragged_tensor_from_variant_gradient", py_from_variant_gradient);
}

}  // namespace backslice::python