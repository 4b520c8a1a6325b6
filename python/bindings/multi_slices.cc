// multi_slice_grad and GradBuffer.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <mutex>

#include "backslice/cuda.h"
#include "backslice/grad_buffer.h"
#include "backslice/multi_slice.h"
#include "bindings/arguments.h"
#include "bindings/array_argument.h"
#include "bindings/call_context.h"
#include "bindings/errors.h"
#include "bindings/gradient_argument.h"
#include "bindings/index.h"
#include "bindings/module.h"
#include "bindings/object_arrays.h"
#include "bindings/protocols.h"
#include "bindings/results.h"
#include "bindings/signatures.h"
#include "core/errors.h"
#include "core/fork.h"

namespace backslice::python {
namespace {

// The list [(index, dy), ...]: read first, viewed later.
struct SliceList {
  std::vector<ArrayArgument> arrays;  // keep the memory of the views alive
  std::vector<nb::object> guards;     // keep it where it is
  std::vector<SliceGradient> slices;

  // Takes the views, broadcast to the slices' shapes. Runs no Python code but between two attempts.
  void view_all() {
    while (!try_to_view_all()) handle_ctrl_c();
  }

 private:
  bool try_to_view_all() {
    LongSilentLoop loop;
    guards.resize(arrays.size());
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (loop.is_interrupted()) return false;
      const InputArray array = arrays[i].view();
      slices[i].dy = array.view;
      broadcast_to_slice(slices[i].dy, slices[i].selection, arrays[i].name());
      guards[i] = keep_from_resizing(array);
    }
    return true;
  }
};

void check_same_dtypes(const std::vector<ArrayArgument>& arrays) {
  for (const ArrayArgument& array : arrays) {
    if (same_dtype(array.numpy_dtype(), arrays[0].numpy_dtype())) continue;
    raise_dtype_error(array.name() + " has dtype " + str_text(array.numpy_dtype()) + ", but slices[0].dy has " +
                      str_text(arrays[0].numpy_dtype()));
  }
}

std::string nth(std::size_t i) { return "slices[" + std::to_string(i) + "]"; }

void read_pair(const std::vector<std::int64_t>& shape, nb::handle item, const GivenDType& dtype, CallContext& call,
               SliceList& list) {
  const std::string name = nth(list.arrays.size());
  if (!PyTuple_Check(item.ptr()) && !PyList_Check(item.ptr())) {
    raise_dtype_error(name + " is " + repr_text(item) + ", expected a pair (index, dy)");
  }
  const nb::object pair = items_of(item);
  if (const Py_ssize_t size = PyTuple_GET_SIZE(pair.ptr()); size != 2) {
    raise_invalid_argument(name + " has " + std::to_string(size) + " items, expected a pair (index, dy)");
  }
  list.slices.push_back({read_selection(shape, PyTuple_GET_ITEM(pair.ptr(), 0)), {}});
  list.arrays.push_back(read_gradient(PyTuple_GET_ITEM(pair.ptr(), 1), dtype, name + ".dy", &call));
}

SliceList read_slices(const std::vector<std::int64_t>& shape, nb::handle given, const GivenDType& dtype,
                      CallContext& call) {
  if (PyUnicode_Check(given.ptr()) || !has_attribute(given, "__iter__")) {
    raise_dtype_error("slices is " + repr_text(given) + ", expected a list of pairs (index, dy), or another iterable");
  }
  SliceList list;
  const nb::object items = items_of(given);
  list.slices.reserve(static_cast<std::size_t>(PyTuple_GET_SIZE(items.ptr())));
  list.arrays.reserve(list.slices.capacity());
  LongLoop loop;
  for (nb::handle item : nb::borrow<nb::tuple>(items)) {
    loop.step();
    read_pair(shape, item, dtype, call, list);
  }
  check_same_dtypes(list.arrays);
  list.view_all();
  return list;
}

// The common zero of arrays of objects.
nb::object empty_string_of_all(const SliceList& list) {
  nb::object zero;
  for (std::size_t i = 0; i < list.arrays.size(); ++i) {
    const std::string& argument = list.arrays[i].name();
    const InputArray array = list.arrays[i].view();
    if (array.view.elements() == 0) continue;
    nb::object own = empty_string_of(array, argument.c_str());
    if (zero.is_valid() && !own.type().is(zero.type())) {
      raise_dtype_error(argument + " mixes str and bytes with the slices before it; use one of them");
    }
    zero = std::move(own);
  }
  return zero.is_valid() ? zero : nb::object(nb::str(""));
}

// An array of no elements, for the dtype of a sum of nothing.
ArrayArgument nothing_of(const GivenDType& dtype) {
  if (!dtype.known().is_valid()) {
    raise_invalid_argument("slices is empty, and nothing determines the dtype; pass dtype= or out=");
  }
  npy_intp none = 0;
  auto* descr = reinterpret_cast<PyArray_Descr*>(nb::object(dtype.known()).release().ptr());
  return {checked([&] { return PyArray_SimpleNewFromDescr(1, &none, descr); }), "dtype"};
}

Result<Tensor> zeros(Ints dims, const ElementType& type) {
  const auto shape = Shape::make(dims);
  if (!shape.ok()) return shape.status();
  if (!has_zero(type.dtype) && shape->elements() > 0) {
    return dtype_error(name(type.dtype), " has no zero, and there are no slices");
  }
  return Tensor::make(type.dtype, *shape, type.item_size, Contents::Zero);
}

nb::object py_multi_slice_grad(nb::handle shape, nb::handle slices, nb::handle out, nb::handle accumulate,
                               nb::handle dtype) {
  CallContext context;
  const Write write = read_write(accumulate, out);
  const auto dims = read_shape(shape, "shape");
  const OutputArgument output(out, &context);
  const GivenDType given_dtype(dtype, output);
  const SliceList given = read_slices(dims, slices, given_dtype, context);
  const InputArray first = (given.arrays.empty() ? nothing_of(given_dtype) : given.arrays[0]).view();
  const char* owner = given.arrays.empty() ? "dtype" : "slices[0].dy";
  const Shape result_shape = unwrap(Shape::make(dims));
  const nb::object zero = first.type.is_object ? empty_string_of_all(given) : nb::object();
  return ResultElements(first, owner, zero)
      .result(
          &result_shape, ResultElements::Work::Any, output,
          [&] {
            return given.slices.empty() ? zeros(dims, first.type) : multi_slice_grad(dims, given.slices, context);
          },
          [&](const View& view) { return multi_slice_grad_into(dims, given.slices, view, write, context); });
}

// A GradBuffer with its NumPy dtype, and a lock, since calls let other threads run.
class PyGradBuffer {
 public:
  PyGradBuffer(nb::handle shape, nb::handle dtype, nb::handle device)
      : dtype_(as_numpy_dtype(dtype)),
        type_(element_type(dtype_, "the buffer")),
        place_(device.is_none() ? Place() : read_place(device)),
        buffer_(make(shape)) {}

  void write(nb::handle index, nb::handle dy) { apply(index, dy, &GradBuffer::write); }
  void add(nb::handle index, nb::handle dy) { apply(index, dy, &GradBuffer::add); }
  void zero() {
    CallContext call;
    call.run_on(place_, "the buffer");
    const Context context = call.for_container(nullptr);
    check(without_gil([&] {
      const std::lock_guard lock(mutex_);
      const Status zeroed = buffer_.zero(context);
      expect_changes();
      return zeroed.ok() ? call.finish() : zeroed;
    }));
  }
  nb::object writable() {
    const std::shared_ptr<void> loan = without_gil([&] {
      const std::lock_guard lock(mutex_);
      buffer_.writable();
      auto lent = lent_.lock();
      if (lent == nullptr) lent_ = lent = std::make_shared<Buffer>(buffer_.tensor().buffer());
      return lent;
    });
    Tensor tensor = buffer_.tensor();
    // On a device, the buffer itself: what is queued on the streams that write to it decides when it may go.
    if (!place_.is_cpu()) {
      await_changes();
      return shared_array(tensor, dtype_, place_, {}, loan);
    }
    const View view = tensor.view();
    return to_numpy(Tensor::of(Buffer::wrap(loan, view.data), view), dtype_);
  }

  // These read what never changes: the tensor is the same as long as the buffer lives.
  nb::object array() const {
    if (place_.is_cpu()) return to_read_only_numpy(buffer_.tensor(), dtype_);
    await_changes();
    return shared_array(buffer_.tensor(), dtype_, place_, {});
  }
  nb::object host_array() const {
    if (place_.is_cpu()) return array();
    raise_dtype_error("the GradBuffer is on " + device() + ": use .array there, or copy that to the CPU");
  }
  std::string device() const { return place_.is_cpu() ? "cpu" : to_string(place_.device); }
  nb::tuple shape() const { return to_tuple(buffer_.tensor().shape()); }
  nb::object dtype() const { return dtype_; }

  // Where it may not be zero.
  nb::tuple shared_regions() {
    nb::list all;
    for (const Selection& region : regions()) all.append(region);
    return nb::tuple(all);
  }
  std::string repr() {
    return "GradBuffer(shape " + repr_text(shape()) + ", dtype " + str_text(dtype_) + shown_regions() +
           (place_.is_cpu() ? "" : ", " + device()) + ")";
  }

 private:
  std::vector<Selection> regions() {
    return without_gil([&] {
      const std::lock_guard lock(mutex_);
      return buffer_.regions();
    });
  }

  // Where it is zero, if that is known of any of it.
  std::string shown_regions() {
    constexpr std::size_t kMost = 3;
    const std::vector<Selection> written = regions();
    if (written.empty()) return ", all zero";
    if (written.front().covers_input()) return "";
    if (written.size() > kMost) return ", zero outside " + std::to_string(written.size()) + " regions";
    std::string text;
    for (const Selection& region : written) text += (text.empty() ? "[" : ", [") + to_string(region.to_index()) + "]";
    return ", zero outside " + text;
  }

  GradBuffer make(nb::handle shape) const {
    if (type_.is_object) raise_dtype_error("a GradBuffer cannot hold objects; use a fixed-width dtype such as 'U10'");
    const auto dims = read_shape(shape, "shape");
    if (place_.is_cpu()) return unwrap(GradBuffer::make(type_.dtype, dims, type_.item_size));
    check_on_device(dtype_, "the buffer");
    CallContext call;
    call.run_on(place_, "the buffer");
    call.use_device_memory();
    return unwrap(without_gil([&]() -> Result<GradBuffer> {
      auto made = GradBuffer::make(type_.dtype, dims, type_.item_size, call);
      if (const Status done = call.finish(); !done.ok()) return done;
      return made;
    }));
  }

  // The stream that its library works on now waits for those that have changed the buffer.
  void await_changes() const {
    CallContext call;
    call.run_on(place_, "the buffer");
    check(without_gil([&] { return cuda_await(buffer_.tensor().buffer(), call.stream); }));
  }

  // A number and a list are the CPU's, as an array of NumPy's is.
  void check_place(const InputArray& dy) const {
    if (dy.view.device == place_.device) return;
    raise_invalid_argument("dy is on " + to_string(dy.view.device) + ", but the buffer is on " +
                           to_string(place_.device));
  }

  using Change = Status (GradBuffer::*)(const Selection&, const ConstView&, const Context&);

  void apply(nb::handle index, nb::handle dy, Change change) {
    CallContext call;
    call.run_on(place_, "the buffer");
    const Selection selection = read_selection(buffer_.tensor().shape(), index);
    InputArray input = read_gradient(dy, GivenDType(dtype_), "dy", &call).view();
    check_place(input);
    broadcast_to_slice(input.view, selection, "dy");
    if (!same_dtype(input.numpy_dtype, dtype_)) {
      raise_dtype_error("dy has dtype " + str_text(input.numpy_dtype) + ", the buffer has " + str_text(dtype_));
    }
    const nb::object guard = keep_from_resizing(input);
    const Context context = call.for_container(ctrl_c_test());
    const Status done = interruptible([&] {
      const std::lock_guard lock(mutex_);
      const Status status = (buffer_.*change)(selection, input.view, context);
      expect_changes();
      return status;
    });
    check(in_numpy_terms(done, dtype_));
    if (!place_.is_cpu() && !place_.library.is_valid()) place_.library = call.place().library;
    check(without_gil([&] { return call.finish(); }));
  }

  // While somebody has a writable view, everything counts as written. Precondition: the lock is held.
  void expect_changes() {
    if (!lent_.expired()) buffer_.writable();
  }

  nb::object dtype_;
  ElementType type_;
  Place place_;  // of which the first array that is written tells the library, where nothing else does
  GradBuffer buffer_;
  std::weak_ptr<void> lent_;  // what writable views own, while there are any; guarded by the mutex
  ForkAwareMutex mutex_;
};

}  // namespace

void bind_multi_slices(nb::module_& m) {
  m.def("multi_slice_grad", py_multi_slice_grad);
  nb::class_<PyGradBuffer>(m, "GradBuffer", class_doc("GradBuffer"))
      .def(nb::init<nb::handle, nb::handle, nb::handle>())
      .def("write", &PyGradBuffer::write)
      .def("add", &PyGradBuffer::add)
      .def("zero", &PyGradBuffer::zero)
      .def("writable", &PyGradBuffer::writable)
      .def_prop_ro("array", &PyGradBuffer::array)
      .def_prop_ro("shape", &PyGradBuffer::shape)
      .def_prop_ro("dtype", &PyGradBuffer::dtype)
      .def_prop_ro("device", &PyGradBuffer::device)
      .def("__array__", [](const PyGradBuffer& self, nb::handle dtype,
                           nb::handle copy) { return array_as(self.host_array(), dtype, copy); })
      .def("__dlpack__", [](const PyGradBuffer& self,
                            nb::handle options) { return dlpack_of(self.array(), nb::borrow<nb::kwargs>(options)); })
      .def("__dlpack_device__", [](const PyGradBuffer& self) { return dlpack_device_of(self.array()); })
      .def_prop_ro("_regions", &PyGradBuffer::shared_regions)
      .def("__reduce__", reduced)
      .def("__repr__", &PyGradBuffer::repr);
}

}  // namespace backslice::python
