// TensorArray and its container.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <span>

#include "backslice/tensor_array_container.h"
#include "bindings/arguments.h"
#include "bindings/array_argument.h"
#include "bindings/call_context.h"
#include "bindings/errors.h"
#include "bindings/index.h"
#include "bindings/instances.h"
#include "bindings/module.h"
#include "bindings/neighbours.h"
#include "bindings/object_arrays.h"
#include "bindings/package.h"
#include "bindings/results.h"
#include "bindings/strings.h"
#include "ops/checks.h"

namespace backslice::python {
namespace {

// A shape of which some is known: None, or a list of int, None or -1.
PartialShape read_partial_shape(nb::handle given, const char* argument) {
  const nb::object extents = find_extents(given);
  const nb::handle object = extents.is_valid() ? nb::handle(extents) : given;
  if (object.is_none()) return {};
  std::vector<std::int64_t> dims;
  if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) {
    nb::list known;
    for (nb::handle item : nb::borrow<nb::tuple>(items_of(object)))
      known.append(item.is_none() ? nb::object(nb::int_(-1)) : nb::borrow(item));
    dims = IntReader().read(known, argument);
  } else {
    dims = read_shape(object, argument);
  }
  return unwrap(PartialShape::make(dims, argument));
}

std::int64_t read_index(nb::handle object, const char* argument) {
  std::int64_t value = 0;
  int overflow = 0;
  if (PyArray_Check(object.ptr()) && PyArray_NDIM(as_array(object)) > 0) {
    raise_invalid_argument(std::string(argument) + " must be a scalar, got shape " +
                           repr_text(attribute(object, "shape")));
  }
  if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) {
    raise_invalid_argument(std::string(argument) + " must be a scalar, got " + repr_text(object));
  }
  if (!read_int(object, value, overflow)) {
    raise_dtype_error(std::string(argument) + " is " + repr_text(object) + ", expected an int");
  }
  return value;
}

// What Python adds to a TensorArray: the NumPy dtype, and which strings it holds.
struct ArrayType {
  explicit ArrayType(nb::handle dtype) : numpy(as_numpy_dtype(dtype)) {
    // str and bytes without a width are strings of any length.
    const auto* descr = reinterpret_cast<PyArray_Descr*>(numpy.ptr());
    if ((descr->kind == 'U' || descr->kind == 'S') && PyDataType_ELSIZE(descr) == 0) {
      strings = descr->kind == 'U' ? StringKind::Str : StringKind::Bytes;
      numpy = as_numpy_dtype(nb::str("object"));
    }
    element = element_type(numpy, "the array");
  }
  nb::object numpy;
  ElementType element;
  StringKind strings = StringKind::Unknown;
};

class PyTensorArray {
 public:
  PyTensorArray(TensorArray array, std::shared_ptr<ArrayType> type)
      : array_(std::move(array)), type_(std::move(type)) {}

  void write(nb::handle index, nb::handle value, nb::handle copy) {
    const std::int64_t i = read_index(index, "index");
    store(value, copy, [&](const Tensor& tensor) { return array_.write(i, tensor, context()); });
  }
  nb::object read(nb::handle index, nb::handle out) {
    const std::int64_t i = read_index(index, "index");
    if (out.is_none()) return given_away([&] { return array_.read(i, context()); });
    return filled(
        out, [&] { return array_.read_shape(i, context()); },
        [&](const View& view) { return array_.read_into(i, view, context()); });
  }
  nb::object gather(nb::handle indices, nb::handle element_shape, nb::handle out) {
    const auto list = IntReader().read(indices, "indices");
    const PartialShape shape = read_partial_shape(element_shape, "element_shape");
    if (out.is_none()) return given_away([&] { return array_.gather(list, shape, context()); });
    return filled(
        out, [&] { return array_.gather_shape(list, shape, context()); },
        [&](const View& view) { return array_.gather_into(list, view, shape, context()); });
  }
  void scatter(nb::handle indices, nb::handle value, nb::handle copy) {
    const auto list = IntReader().read(indices, "indices");
    store(value, copy, [&](const Tensor& tensor) { return array_.scatter(list, tensor, context()); });
  }
  nb::object stack(nb::handle out) {
    if (out.is_none()) return given_away([&] { return array_.stack(context()); });
    return filled(
        out, [&] { return array_.stack_shape(context()); },
        [&](const View& view) { return array_.stack_into(view, context()); });
  }
  void unstack(nb::handle value, nb::handle copy) {
    store(value, copy, [&](const Tensor& tensor) { return array_.unstack(tensor, context()); });
  }
  nb::tuple concat(nb::handle element_shape_except0, nb::handle out) {
    const PartialShape shape = read_partial_shape(element_shape_except0, "element_shape_except0");
    if (!out.is_none()) return concat_into(shape, out);
    ArrayOwner owner = new_array_owner();
    nb::object lengths = new_lengths(size());
    auto result = unwrap(interruptible([&] { return array_.concat(shape, context()); }));
    if (PyArray_SIZE(as_array(lengths)) != std::ssize(result.lengths)) {  // another thread has made the array longer
      lengths = new_lengths(std::ssize(result.lengths));
    }
    std::copy(result.lengths.begin(), result.lengths.end(),
              static_cast<std::int64_t*>(PyArray_DATA(as_array(lengths))));
    return nb::make_tuple(to_python(result.value, std::move(owner)), lengths);
  }
  void split(nb::handle value, nb::handle lengths, nb::handle copy) {
    const auto list = IntReader().read(lengths, "lengths");
    store(value, copy, [&](const Tensor& tensor) { return array_.split(tensor, list, context()); });
  }
  std::int64_t size() const {
    return unwrap(without_gil([&] { return array_.size(); }));
  }
  void close() {
    without_gil([&] {
      array_.close();
      return 0;
    });
  }
  PyTensorArray grad_with_shape(nb::handle source, nb::handle shape_to_prepend) {
    const std::string name(read_str(source, "source"));
    const auto prepend = IntReader().read(shape_to_prepend, "shape_to_prepend");
    return {unwrap(interruptible([&] { return array_.grad_with_shape(name, prepend, context()); })), type_};
  }

  nb::object dtype() const { return type_->numpy; }
  const std::shared_ptr<ArrayType>& type() const { return type_; }
  const TensorArray& array() const { return array_; }
  std::string name() const { return array_.name(); }
  nb::object element_shape() const {
    const PartialShape shape = without_gil([&] { return array_.element_shape(); });
    if (!shape.has_rank()) return nb::none();
    nb::list dims;
    for (std::int64_t dim : shape.dims())
      dims.append(dim == PartialShape::kUnknown ? nb::object(nb::none()) : nb::object(nb::int_(dim)));
    return nb::tuple(dims);
  }
  std::string repr() const {
    const bool closed = without_gil([&] { return array_.is_closed(); });
    const std::string shape = without_gil([&] { return array_.element_shape().to_string(); });
    return "<TensorArray " + (name().empty() ? "" : "'" + name() + "' ") +
           (closed ? std::string("closed") : "of " + std::to_string(size())) + ", dtype " + str_text(type_->numpy) +
           ", element shape " + shape + (array_.is_gradient() ? ", a gradient" : "") + ">";
  }

 private:
  nb::tuple concat_into(const PartialShape& shape, nb::handle out) {
    const nb::object lengths = new_lengths(size());
    const std::span numbers(static_cast<std::int64_t*>(PyArray_DATA(as_array(lengths))),
                            static_cast<std::size_t>(PyArray_SIZE(as_array(lengths))));
    nb::object value = filled(
        out, [&] { return array_.concat_shape(shape, context()); },
        [&](const View& view) { return array_.concat_into(view, numbers, shape, context()); });
    return nb::make_tuple(std::move(value), lengths);
  }

  // Strings are written with the GIL held: who has the array's locks then must not ask for it, and so not for Ctrl-C.
  Context context() const { return {.cancelled = type_->element.is_object ? nullptr : ctrl_c_test()}; }

  static nb::object new_lengths(npy_intp count) {
    return checked([&] { return PyArray_SimpleNew(1, &count, NPY_INT64); });
  }

  // Lists and numbers become arrays of the dtype; arrays must have it.
  ArrayArgument read_value(nb::handle value) const {
    const bool is_array = PyArray_Check(value.ptr()) || has_attribute(value, "__dlpack__");
    ArrayArgument input(is_array ? nb::borrow(value) : converted(value), "value");
    if (same_dtype(input.numpy_dtype(), type_->numpy)) return input;
    raise_dtype_error("TensorArray " + name() + ": dtype is " + str_text(type_->numpy) + " but a value of dtype " +
                      str_text(input.numpy_dtype()) + " was written");
  }

  nb::object converted(nb::handle value) const {
    return call_with(registered("as_array"), nb::make_tuple(value, type_->numpy, "value"));
  }

  template <class Write>
  void store(nb::handle value, nb::handle copy, const Write& write) {
    const bool is_copied = read_flag(copy, "copy");
    const ArrayArgument input = read_value(value);
    if (type_->element.is_object) return store_strings(input.view(), write);
    const CallContext context;
    const Tensor tensor = is_copied ? copied_tensor(input.view(), context) : input.held();
    check(in_numpy_terms(interruptible([&] { return write(tensor); }), type_->numpy));
  }

  // The first write decides which strings the array holds, if it succeeds. No other thread comes between: nothing that
  // a string array holds is Python's, so that holding the GIL here makes nobody wait for ever.
  template <class Write>
  void store_strings(const InputArray& input, const Write& write) {
    StringKind kind = type_->strings;
    const Tensor tensor = strings_from_objects(input, "value", kind);
    check(in_numpy_terms(write(tensor), type_->numpy));
    type_->strings = kind;
  }

  // The result of an operation that may clear what it reads.
  template <class Read>
  nb::object given_away(const Read& read) {
    ArrayOwner owner = new_array_owner();
    return to_python(unwrap(interruptible(read)), std::move(owner));
  }

  // `out`, filled by fill(view). What does not fit it stays in the array.
  template <class Measure, class Fill>
  nb::object filled(nb::handle out, const Measure& measure, const Fill& fill) {
    const OutputArgument output(out);
    const View view = output.view(type_->numpy, type_->element, "the array");
    const nb::object guard = output.guard();
    if (type_->element.is_object) {
      fill_strings(view, measure, fill);
    } else {
      check(interruptible([&] { return fill(view); }));
    }
    return nb::borrow(out);
  }

  // The array's strings are the library's, those of `out` are Python's. The GIL is held, as it is for writing them.
  // After fill() nothing is left that a handler of signals could end.
  template <class Measure, class Fill>
  void fill_strings(const View& view, const Measure& measure, const Fill& fill) {
    const Shape shape = unwrap(measure());
    check(check_output(view, "out", shape, view.dtype, view.layout.item_size, "the array"));
    Tensor strings = unwrap(Tensor::make(DType::String, shape));
    check(fill(strings.view()));
    exchange_objects(view, objects_from_strings(strings, type_->strings, Handlers::Wait));
  }

  nb::object to_python(const Tensor& tensor, ArrayOwner owner) {
    if (type_->element.is_object) return objects_from_strings(tensor, type_->strings, Handlers::Wait);
    return to_read_only_numpy(tensor, type_->numpy, std::move(owner));
  }

  TensorArray array_;
  std::shared_ptr<ArrayType> type_;
};

// The arguments that make an array.
struct Making {
  std::int64_t size;
  std::shared_ptr<ArrayType> type;
  TensorArrayOptions options;

  Making(nb::handle size, nb::handle dtype, nb::handle element_shape, nb::handle dynamic_size,
         nb::handle clear_after_read, nb::handle identical_element_shapes, nb::handle name, nb::handle contiguous)
      : size(read_index(size, "size")), type(std::make_shared<ArrayType>(dtype)) {
    options.element_shape = read_partial_shape(element_shape, "element_shape");
    options.dynamic_size = read_flag(dynamic_size, "dynamic_size");
    options.clear_after_read = read_flag(clear_after_read, "clear_after_read");
    options.identical_element_shapes = read_flag(identical_element_shapes, "identical_element_shapes");
    options.contiguous = read_flag(contiguous, "contiguous");
    options.name = read_str(name, "name");
    options.item_size = type->element.item_size;
  }
  DType dtype() const { return type->element.is_object ? DType::String : type->element.dtype; }
};

class PyContainer {
 public:
  PyTensorArray create(const Making& making) {
    TensorArray array =
        unwrap(without_gil([&] { return container_.make(making.size, making.dtype(), making.options); }));
    try {
      types_[array.name()] = making.type;
    } catch (...) {
      container_.remove(array.name());
      throw;
    }
    return {std::move(array), making.type};
  }
  nb::object find(nb::handle name) {
    const std::string text(read_str(name, "name"));
    const auto found = without_gil([&] { return container_.find(text); });
    const auto type = types_.find(text.substr(0, text.find('@')));  // a gradient has its forward array's
    if (!found || type == types_.end()) return nb::none();
    return nb::cast(PyTensorArray(*found, type->second));
  }
  bool remove(nb::handle name) {
    const std::string text(read_str(name, "name"));
    types_.erase(text);
    return without_gil([&] { return container_.remove(text); });
  }
  std::vector<std::string> names() const {
    return without_gil([&] { return container_.names(); });
  }

 private:
  TensorArrayContainer container_;
  std::map<std::string, std::shared_ptr<ArrayType>> types_;  // guarded by the GIL
};

nb::tuple py_tensor_array_grad_with_shape(nb::handle handle, nb::handle flow_in, nb::handle shape_to_prepend,
                                          nb::handle source) {
  auto* array = find_instance<PyTensorArray>(handle);
  if (array == nullptr) raise_dtype_error("handle is a " + type_text(handle) + ", expected a TensorArray");
  const InputArray flow = ArrayArgument(flow_in, "flow_in").view();
  if (flow.view.shape().rank() != 0) {
    raise_invalid_argument("flow_in must be a float32 scalar, got shape " + to_string(Ints(flow.view.shape())));
  }
  const nb::object flow_out = call(attribute(imported("numpy"), "float32"), nb::int_(0));
  return nb::make_tuple(array->grad_with_shape(source, shape_to_prepend), flow_out);
}

}  // namespace

void bind_tensor_arrays(nb::module_& m) {
  using Array = PyTensorArray;
  nb::class_<Array>(m, "TensorArray", "A list of tensors that is written and read by index, with gradients.")
      .def(
          "__init__",
          [](Array* self, nb::handle size, nb::handle dtype, nb::handle element_shape, nb::handle dynamic_size,
             nb::handle clear_after_read, nb::handle identical_element_shapes, nb::handle name, nb::handle contiguous) {
            const Making making(size, dtype, element_shape, dynamic_size, clear_after_read, identical_element_shapes,
                                name, contiguous);
            new (self) Array(unwrap(TensorArray::make(making.size, making.dtype(), making.options)), making.type);
          },
          any("size"), any("dtype"), any("element_shape") = nb::none(), any("dynamic_size") = false,
          any("clear_after_read") = true, any("identical_element_shapes") = false, any("name") = "", nb::kw_only(),
          any("contiguous") = false)
      .def("write", &Array::write, any("index"), any("value"), any("copy") = true,
           "Writes an element: once for a forward array, summed for a gradient.\n"
           "With copy=False the memory is held, and must not be changed.")
      .def("read", &Array::read, any("index"), nb::kw_only(), any("out") = nb::none(),
           "Reads an element, as a new array or into out; zeros where none was written and the shape is known.")
      .def("gather", &Array::gather, any("indices"), any("element_shape") = nb::none(), nb::kw_only(),
           any("out") = nb::none(), "Reads many elements into one array.")
      .def("scatter", &Array::scatter, any("indices"), any("value"), any("copy") = true,
           "Writes row i of the value to indices[i].")
      .def("stack", &Array::stack, nb::kw_only(), any("out") = nb::none(), "Reads all elements into one array.")
      .def("unstack", &Array::unstack, any("value"), any("copy") = true, "Writes row i of the value to index i.")
      .def("concat", &Array::concat, any("element_shape_except0") = nb::none(), nb::kw_only(), any("out") = nb::none(),
           "Reads all elements, joined along their first axis: (value, lengths).")
      .def("split", &Array::split, any("value"), any("lengths"), any("copy") = true,
           "Writes the first lengths[0] rows to index 0, and so on.")
      .def("size", &Array::size, "How many elements there are.")
      .def("close", &Array::close, "Lets go of everything.")
      .def(
          "grad", [](Array& self, nb::handle source) { return self.grad_with_shape(source, nb::make_tuple()); },
          any("source"), "The gradient array of that source; the same one each time.")
      .def("grad_with_shape", &Array::grad_with_shape, any("source"), any("shape_to_prepend"),
           "TensorFlow's TensorArrayGradWithShape: elements have shape_to_prepend before their shape.")
      .def_prop_ro("dtype", &Array::dtype, "The NumPy dtype.")
      .def_prop_ro("name", &Array::name, "The name; name@source for gradients.")
      .def_prop_ro("element_shape", &Array::element_shape, "What is known of the elements' shape, None for nothing.")
      .def("__repr__", &Array::repr)
      .def(
          "__eq__",
          [](const Array& a, nb::handle b) {
            const auto* other = find_instance<Array>(b);
            return other != nullptr && a.array() == other->array();
          },
          any("other"))
      .def("__hash__", [](const Array& a) { return std::hash<std::string>()(a.name()); });
  nb::class_<PyContainer>(m, "TensorArrayContainer", "Names for tensor arrays, for those who want to look them up.")
      .def(nb::init<>())
      .def(
          "create",
          [](PyContainer& self, nb::handle size, nb::handle dtype, nb::handle element_shape, nb::handle dynamic_size,
             nb::handle clear_after_read, nb::handle identical_element_shapes, nb::handle name, nb::handle contiguous) {
            return self.create({size, dtype, element_shape, dynamic_size, clear_after_read, identical_element_shapes,
                                name, contiguous});
          },
          any("size"), any("dtype"), any("element_shape") = nb::none(), any("dynamic_size") = false,
          any("clear_after_read") = true, any("identical_element_shapes") = false, any("name") = "", nb::kw_only(),
          any("contiguous") = false, "Makes an array and keeps it under its name with a number: 'steps_0'.")
      .def("find", &PyContainer::find, any("name"), "The array of that name, or 'name@source' for a gradient; or None.")
      .def("remove", &PyContainer::remove, any("name"), "Lets go of an array; False if there is none of that name.")
      .def("names", &PyContainer::names, "The names of the forward arrays, sorted.");
  m.def("tensor_array_grad_with_shape", py_tensor_array_grad_with_shape, any("handle"), any("flow_in"),
        any("shape_to_prepend"), any("source"),
        "TensorFlow's TensorArrayGradWithShape: (grad_handle, flow_out). The flow is of no use here and is 0.");
}

}  // namespace backslice::python
