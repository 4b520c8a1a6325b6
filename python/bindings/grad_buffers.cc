// backslice.GradBuffer.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <mutex>

#include "backslice/cuda.h"
#include "backslice/grad_buffer.h"
#include "bindings/arguments.h"
#include "bindings/array_argument.h"
#include "bindings/call_context.h"
#include "bindings/errors.h"
#include "bindings/gradient_argument.h"
#include "bindings/index.h"
#include "bindings/module.h"
#include "bindings/protocols.h"
#include "bindings/results.h"
#include "bindings/short_calls.h"
#include "bindings/signatures.h"
#include "core/fork.h"
#include "grad_buffer/small_update.h"

namespace backslice::python {
namespace {

// A GradBuffer with its NumPy dtype, and a lock, since calls let other threads run.
class PyGradBuffer {
 public:
  PyGradBuffer(nb::handle shape, nb::handle dtype, nb::handle device)
      : dtype_(as_numpy_dtype(dtype)),
        type_(element_type(dtype_, "the buffer")),
        place_(device.is_none() ? Place() : read_place(device)),
        buffer_(make(shape)) {}

  // The short path of the two that follow, for small slices.
  PyObject* write_shortly(PyObject* index, PyObject* dy) { return change_shortly(index, dy, &SmallUpdate::write); }
  PyObject* add_shortly(PyObject* index, PyObject* dy) { return change_shortly(index, dy, &SmallUpdate::add); }

  void write(nb::handle index, nb::handle dy) { apply(index, dy, &GradBuffer::write); }
  void add(nb::handle index, nb::handle dy) { apply(index, dy, &GradBuffer::add); }
  void zero() {
    CallContext call;
    call.run_on(place(), "the buffer");
    const Context context = call.for_container(nullptr);
    check(without_gil([&] {
      const std::lock_guard lock(mutex_);
      const Status zeroed = buffer_.zero(context);
      expect_changes();
      return zeroed;
    }));
    check(without_gil([&] { return call.finish(); }));
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
      return shared_array(tensor, dtype_, place(), {}, loan);
    }
    const View view = tensor.view();
    return to_numpy(Tensor::of(Buffer::wrap(loan, view.data), view), dtype_);
  }

  // These read what never changes: the tensor is the same as long as the buffer lives.
  nb::object array() const {
    if (place_.is_cpu()) return to_read_only_numpy(buffer_.tensor(), dtype_);
    await_changes();
    return shared_array(buffer_.tensor(), dtype_, place(), {});
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

  Place place() const { return {place_.device, library_.get()}; }

  // The stream that its library works on now waits for those that have changed the buffer.
  void await_changes() const {
    CallContext call;
    call.run_on(place(), "the buffer");
    check(without_gil([&] { return cuda_await(buffer_.tensor().buffer(), call.stream); }));
  }

  // A number and a list are the CPU's, as an array of NumPy's is.
  void check_place(const InputArray& dy) const {
    if (dy.view.device == place_.device) return;
    raise_invalid_argument("dy is on " + to_string(dy.view.device) + ", but the buffer is on " +
                           to_string(place_.device));
  }

  // Another thread that has the lock may want the GIL, so that it is not waited for.
  PyObject* change_shortly(PyObject* given_index, PyObject* given_dy, bool (SmallUpdate::*change)(GradBuffer&) const) {
    PyArrayObject* const dy = plain_array(given_dy);
    if (dy == nullptr || !place_.is_cpu() || !is_environment_checked() || !has_dtype_of(dy)) return nullptr;
    const ConstView view = buffer_.view();
    ShortIndex index;
    if (view.shape().rank() > ShortIndex::kMostAxes || !index.set_shape(view.shape().begin(), view.shape().rank()) ||
        !index.read_index(given_index) || !index.is_result_shape_of(dy) ||
        !index.selects_at_most(SmallMove::kMostBytes / type_.item_size)) {
      return nullptr;
    }
    const npy_intp* const strides = view.layout.strides.begin();
    const SmallUpdate update{index.region(), index.scatter(type_.item_size, strides, PyArray_STRIDES(dy)), data_of(dy)};
    const std::int64_t bytes = view.elements() * type_.item_size;
    if (!update.move.is_short() || may_overlap(dy, view.data, bytes)) return nullptr;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || !lent_.expired() || !(update.*change)(buffer_)) return nullptr;
    return Py_NewRef(Py_None);
  }
  bool has_dtype_of(PyArrayObject* dy) const {
    auto* const own = reinterpret_cast<PyArray_Descr*>(dtype_.ptr());
    return own->type_num == PyArray_TYPE(dy) && PyArray_ISNBO(own->byteorder);
  }

  using Change = Status (GradBuffer::*)(const Selection&, const ConstView&, const Context&);

  void apply(nb::handle index, nb::handle dy, Change change) {
    CallContext call;
    call.run_on(place(), "the buffer");
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
    if (!place_.is_cpu()) library_.learn(call.place().library);
    check(without_gil([&] { return call.finish(); }));
  }

  // While somebody has a writable view, everything counts as written. Precondition: the lock is held.
  void expect_changes() {
    if (!lent_.expired()) buffer_.writable();
  }

  nb::object dtype_;
  ElementType type_;
  const Place place_;  // as it was given
  LearnedLibrary library_{place_.library};
  GradBuffer buffer_;
  std::weak_ptr<void> lent_;  // what writable views own, while there are any; guarded by the mutex
  ForkAwareTurns mutex_;
};

template <PyObject* (PyGradBuffer::*change)(PyObject* index, PyObject* dy)>
PyObject* short_change(PyObject* self, PyObject* const* values, Py_ssize_t positional, PyObject* keywords) {
  if (positional != 2 || keywords != nullptr) return nullptr;
  return (nb::inst_ptr<PyGradBuffer>(self)->*change)(values[0], values[1]);
}

}  // namespace

void bind_grad_buffers(nb::module_& m) {
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
  add_short_call("GradBuffer", "write", short_change<&PyGradBuffer::write_shortly>);
  add_short_call("GradBuffer", "add", short_change<&PyGradBuffer::add_shortly>);
}

}  // namespace backslice::python
