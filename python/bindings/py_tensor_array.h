// TensorArray as Python has it.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <span>

#include "backslice/tensor_array.h"
#include "bindings/arguments.h"
#include "bindings/array_argument.h"
#include "bindings/call_context.h"
#include "bindings/errors.h"
#include "bindings/index.h"
#include "bindings/neighbours.h"
#include "bindings/object_arrays.h"
#include "bindings/package.h"
#include "bindings/place.h"
#include "bindings/results.h"
#include "bindings/strings.h"
#include "ops/checks.h"

namespace backslice::python {

// Reads a partially known shape: None, a list of int, None or -1, or a tf.TensorShape.
inline PartialShape read_partial_shape(nb::handle given, const char* argument) {
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

inline nb::object partial_shape_to_python(const PartialShape& shape) {
  if (!shape.has_rank()) return nb::none();
  nb::list dims;
  for (std::int64_t dim : shape.dims())
    dims.append(dim == PartialShape::kUnknown ? nb::object(nb::none()) : nb::object(nb::int_(dim)));
  return nb::tuple(dims);
}

inline std::int64_t read_index(nb::handle object, const char* argument) {
  if (PyArray_Check(object.ptr()) && PyArray_NDIM(as_array(object)) > 0) {
    raise_invalid_argument(std::string(argument) + " must be a scalar, got shape " +
                           repr_text(attribute(object, "shape")));
  }
  if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) {
    raise_invalid_argument(std::string(argument) + " must be a scalar, got " + repr_text(object));
  }
  int overflow = 0;
  return require_int(object, argument, overflow);
}

// The part of a TensorArray that only Python has: the NumPy dtype, the kind of its strings, and the library of its
// elements. Arrays of one type share it, in any threads.
class ArrayType {
 public:
  explicit ArrayType(nb::handle dtype) : numpy(as_numpy_dtype(dtype)) {
    // str and bytes without a width are strings of any length.
    const auto* descr = reinterpret_cast<PyArray_Descr*>(numpy.ptr());
    if ((descr->kind == 'U' || descr->kind == 'S') && PyDataType_ELSIZE(descr) == 0) {
      strings_ = descr->kind == 'U' ? StringKind::Str : StringKind::Bytes;
      numpy = as_numpy_dtype(nb::str("object"));
    }
    element = element_type(numpy, "the array");
  }

  StringKind strings() const {
    const nb::ft_lock_guard lock(mutex_);
    return strings_;
  }

  // Calls write(tensor) with the strings of an object array. The first successful write decides which strings the array
  // holds.
  template <class Write>
  void write_strings(const InputArray& input, const Write& write) {
    for (;;) {
      const StringKind known = strings();
      StringKind kind = known;
      const Tensor tensor = strings_from_objects(input, "value", kind);
      const auto done = write_if_still(known, kind, [&] { return write(tensor); });
      if (done) return check(in_numpy_terms(*done, numpy));
    }
  }

  nb::object numpy;
  ElementType element;
  LearnedLibrary library{{}};

 private:
  // Does nothing if another thread has decided meanwhile. Calls that hold the lock never wait for Python code, since a
  // string array holds no Python objects.
  template <class Write>
  std::optional<Status> write_if_still(StringKind known, StringKind kind, const Write& write) {
    const nb::ft_lock_guard lock(mutex_);
    if (strings_ != known) return std::nullopt;
    Status status = write();
    if (status.ok()) strings_ = kind;
    return status;
  }

  mutable nb::ft_mutex mutex_;  // the GIL guards it in other builds
  StringKind strings_ = StringKind::Unknown;
};

class PyTensorArray {
 public:
  PyTensorArray(TensorArray array, std::shared_ptr<ArrayType> type)
      : array_(std::move(array)), type_(std::move(type)) {}

  void write(nb::handle index, nb::handle value, nb::handle copy) {
    const std::int64_t i = read_index(index, "index");
    store(value, copy, [&](const Tensor& tensor, const Context& context) { return array_.write(i, tensor, context); });
  }
  nb::object read(nb::handle index, nb::handle out) {
    const std::int64_t i = read_index(index, "index");
    if (out.is_none()) return given_away([&](const Context& context) { return array_.read(i, context); });
    return filled(
        out, [&](const Context& context) { return array_.read_shape(i, context); },
        [&](const View& view, const Context& context) { return array_.read_into(i, view, context); });
  }
  nb::object gather(nb::handle indices, nb::handle element_shape, nb::handle out) {
    const auto list = IntReader().read(indices, "indices");
    const PartialShape shape = read_partial_shape(element_shape, "element_shape");
    if (out.is_none()) return given_away([&](const Context& context) { return array_.gather(list, shape, context); });
    return filled(
        out, [&](const Context& context) { return array_.gather_shape(list, shape, context); },
        [&](const View& view, const Context& context) { return array_.gather_into(list, view, shape, context); });
  }
  void scatter(nb::handle indices, nb::handle value, nb::handle copy) {
    const auto list = IntReader().read(indices, "indices");
    store(value, copy,
          [&](const Tensor& tensor, const Context& context) { return array_.scatter(list, tensor, context); });
  }
  nb::object stack(nb::handle out) {
    if (out.is_none()) return given_away([&](const Context& context) { return array_.stack(context); });
    return filled(
        out, [&](const Context& context) { return array_.stack_shape(context); },
        [&](const View& view, const Context& context) { return array_.stack_into(view, context); });
  }
  void unstack(nb::handle value, nb::handle copy) {
    store(value, copy, [&](const Tensor& tensor, const Context& context) { return array_.unstack(tensor, context); });
  }
  nb::tuple concat(nb::handle element_shape_except0, nb::handle out) {
    const PartialShape shape = read_partial_shape(element_shape_except0, "element_shape_except0");
    if (!out.is_none()) return concat_into(shape, out);
    ArrayOwner owner = new_array_owner();
    nb::object lengths = new_lengths(size());
    CallContext call;
    run_here(call);
    const Context context = context_of(call);
    auto result = unwrap(interruptible([&] { return array_.concat(shape, context); }));
    if (PyArray_SIZE(as_array(lengths)) != std::ssize(result.lengths)) {  // another thread has made the array longer
      lengths = new_lengths(std::ssize(result.lengths));
    }
    std::copy(result.lengths.begin(), result.lengths.end(),
              static_cast<std::int64_t*>(PyArray_DATA(as_array(lengths))));
    return nb::make_tuple(to_python(result.value, std::move(owner), call), lengths);
  }
  void split(nb::handle value, nb::handle lengths, nb::handle copy) {
    const auto list = IntReader().read(lengths, "lengths");
    store(value, copy,
          [&](const Tensor& tensor, const Context& context) { return array_.split(tensor, list, context); });
  }
  std::int64_t size() const {
    return unwrap(without_gil([&] { return array_.size(); }));
  }
  void close() {
    check(without_gil([&] { return array_.close(); }));
  }
  PyTensorArray grad_with_shape(nb::handle source, nb::handle shape_to_prepend) {
    const std::string name(read_str(source, "source"));
    const auto prepend = IntReader().read(shape_to_prepend, "shape_to_prepend");
    const Context context{.cancelled = cancelled()};
    return {unwrap(interruptible([&] { return array_.grad_with_shape(name, prepend, context); })), type_};
  }

  // Returns the contents, for pickle; and makes an array from them. The contents given to restore() are not trusted.
  nb::tuple contents() const;
  static PyTensorArray restore(nb::handle contents);

  nb::object dtype() const { return type_->numpy; }
  const std::shared_ptr<ArrayType>& type() const { return type_; }
  const TensorArray& array() const { return array_; }
  std::string device() const { return array_.device().is_cpu() ? "cpu" : to_string(array_.device()); }
  std::string name() const { return array_.name(); }
  nb::object element_shape() const {
    return partial_shape_to_python(unwrap(without_gil([&] { return array_.element_shape(); })));
  }
  std::string repr() const {
    const bool closed = unwrap(without_gil([&] { return array_.is_closed(); }));
    const std::string shape = unwrap(without_gil([&] { return array_.element_shape(); })).to_string();
    return "TensorArray(" + (name().empty() ? "" : "name " + repr_text(new_str(name())) + ", ") +
           (closed ? std::string("closed") : "size " + std::to_string(size())) + ", dtype " + str_text(type_->numpy) +
           ", element shape " + shape + (array_.is_gradient() ? ", a gradient" : "") +
           (array_.device().is_cpu() ? "" : ", " + device()) + ")";
  }

 private:
  nb::tuple concat_into(const PartialShape& shape, nb::handle out) {
    const nb::object lengths = new_lengths(size());
    const std::span numbers(static_cast<std::int64_t*>(PyArray_DATA(as_array(lengths))),
                            static_cast<std::size_t>(PyArray_SIZE(as_array(lengths))));
    nb::object value = filled(
        out, [&](const Context& context) { return array_.concat_shape(shape, context); },
        [&](const View& view, const Context& context) { return array_.concat_into(view, numbers, shape, context); });
    return nb::make_tuple(std::move(value), lengths);
  }

  // Writes strings with the GIL held: a thread with the array's locks must not request the GIL, and so cannot check for
  // Ctrl-C.
  const CancelledTest* cancelled() const { return type_->element.is_object ? nullptr : ctrl_c_test(); }

  // Elements use the library's own memory, not that of other libraries: the locks are held during allocations.
  Context context_of(const CallContext& call) const { return call.for_container(cancelled()); }
  void run_here(CallContext& call) const { call.run_on({array_.device(), type_->library.get()}, "the array"); }

  static nb::object new_lengths(npy_intp count) {
    return checked([&] { return PyArray_SimpleNew(1, &count, NPY_INT64); });
  }

  // Lists and numbers become arrays of the dtype; arrays must have it.
  ArrayArgument read_value(nb::handle value, CallContext& call) const {
    const bool is_array = PyArray_Check(value.ptr()) || has_attribute(value, "__dlpack__") ||
                          has_attribute(value, "__cuda_array_interface__");
    ArrayArgument input(is_array ? nb::borrow(value) : converted(value), "value", &call);
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
    CallContext call;
    run_here(call);
    const ArrayArgument input = read_value(value, call);
    // The GIL is held, and nothing waits for it: see write_if_still().
    if (type_->element.is_object)
      return type_->write_strings(input.view(), [&](const Tensor& tensor) { return write(tensor, Context{}); });
    // Memory of libraries that do not keep it alive for a stream would be freed before it is read.
    const bool is_held = !is_copied && (!input.is_on_device() || (!call.waits() && input.is_kept_for_call()));
    const Tensor tensor = is_held ? input.held() : copied_tensor(input.view(), call);
    const Context context = context_of(call);
    check(in_numpy_terms(interruptible([&] { return write(tensor, context); }), type_->numpy));
    if (input.is_on_device()) type_->library.learn(call.place().library);
    check(without_gil([&] { return call.finish(); }));
  }

  // Returns the result of an operation that may clear the elements that it reads.
  template <class Read>
  nb::object given_away(const Read& read) {
    ArrayOwner owner = new_array_owner();
    CallContext call;
    run_here(call);
    const Context context = context_of(call);
    return to_python(unwrap(interruptible([&] { return read(context); })), std::move(owner), call);
  }

  // Returns `out`, filled by fill(view). If the result does not fit, it stays in the array.
  template <class Measure, class Fill>
  nb::object filled(nb::handle out, const Measure& measure, const Fill& fill) {
    CallContext call;
    run_here(call);
    const OutputArgument output(out, &call);
    const View view = output.view(type_->numpy, type_->element, "the array");
    const nb::object guard = output.guard();
    const Context context = context_of(call);
    if (type_->element.is_object) {
      fill_strings(view, measure, fill);
    } else {
      check(interruptible([&] { return fill(view, context); }));
      check(without_gil([&] { return call.finish(); }));
    }
    return nb::borrow(out);
  }

  // The array's strings are the library's, those of `out` are Python's. The GIL is held, as for writing them. After
  // fill(), no step is left that a signal handler could end.
  template <class Measure, class Fill>
  void fill_strings(const View& view, const Measure& measure, const Fill& fill) {
    const Shape shape = unwrap(measure(Context{}));
    check(check_output(view, "out", shape, view.dtype, view.layout.item_size, "the array"));
    Tensor strings = unwrap(Tensor::make(DType::String, shape));
    check(fill(strings.view(), Context{}));
    exchange_objects(view, objects_from_strings(strings, type_->strings(), Handlers::Wait));
  }

  nb::object to_python(const Tensor& tensor, ArrayOwner owner, const CallContext& call) {
    if (type_->element.is_object) return objects_from_strings(tensor, type_->strings(), Handlers::Wait);
    if (!tensor.device().is_cpu()) return call.device_array(tensor, type_->numpy);
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

  Making(nb::handle length, nb::handle dtype, nb::handle element_shape, nb::handle dynamic_size,
         nb::handle clear_after_read, nb::handle identical_element_shapes, nb::handle name, nb::handle contiguous,
         nb::handle device)
      : size(read_index(length, "size")), type(std::make_shared<ArrayType>(dtype)) {
    options.element_shape = read_partial_shape(element_shape, "element_shape");
    options.dynamic_size = read_flag(dynamic_size, "dynamic_size");
    options.clear_after_read = read_flag(clear_after_read, "clear_after_read");
    options.identical_element_shapes = read_flag(identical_element_shapes, "identical_element_shapes");
    options.contiguous = read_flag(contiguous, "contiguous");
    options.name = read_str(name, "name");
    options.item_size = type->element.item_size;
    options.any_device = device.is_none() && !options.contiguous && !type->element.is_object;
    if (!device.is_none()) place_on(read_place(device));
  }
  DType dtype() const { return type->element.is_object ? DType::String : type->element.dtype; }

  // Calls maker(size, dtype, options, context), with the stream on which the block of contiguous mode is made.
  template <class Maker>
  TensorArray make(const Maker& maker) const {
    CallContext call;
    call.run_on({options.device, type->library.get()}, "the array");
    const Context context{.stream = call.stream};
    return unwrap(without_gil([&]() -> Result<TensorArray> {
      auto array = maker(size, dtype(), options, context);
      if (const Status done = call.finish(); !done.ok()) return done;
      return array;
    }));
  }

 private:
  void place_on(const Place& place) {
    if (place.is_cpu()) return;
    check_on_device(type->numpy, "the array");
    options.device = place.device;
    type->library.learn(place.library);
  }
};

}  // namespace backslice::python
