#include "bindings/array_argument.h"

#include "bindings/errors.h"
#include "bindings/gil.h"
#include "bindings/known_tensors.h"
#include "bindings/neighbours.h"
#include "bindings/object_arrays.h"
#include "bindings/objects.h"
#include "bindings/package.h"

namespace backslice::python {
namespace {

void refuse_masked_array(nb::handle array, const std::string& name) {
  if (!is_masked_array(array)) return;
  raise_dtype_error(name + " is a masked array, whose mask would be lost; pass " + name +
                    ".filled(value), with the value that masked elements count as");
}

// Makes an array of one object from an object that NumPy does not know, and from a string, which is an element.
bool holds_what_is_no_array(PyArrayObject* array) {
  if (PyArray_NDIM(array) != 0 || PyArray_TYPE(array) != NPY_OBJECT) return false;
  PyObject* const item = *static_cast<PyObject**>(PyArray_DATA(array));
  return item == nullptr || !(PyUnicode_Check(item) || PyBytes_Check(item));
}

[[noreturn]] void refuse_object(nb::handle object, const std::string& name) {
  if (object.is_none()) raise_dtype_error(name + " is None, expected an array");
  const nb::object module = attribute(object.type(), "__module__");
  const bool is_scipy = PyUnicode_Check(module.ptr()) && str_text(module).starts_with("scipy.sparse");
  raise_dtype_error(name + " is of type " + type_text(object) + ", expected an array" +
                    (is_scipy ? "; backslice.scipy has the operations for SciPy's sparse arrays" : ""));
}

// The owner of an array's memory, and its device.
struct HeldArray {
  nb::object guard, array;             // of NumPy,
  std::shared_ptr<void> dlpack_owner;  // or of another library

  HeldArray(nb::object own_guard, nb::object own_array, std::shared_ptr<void> owner)
      : guard(std::move(own_guard)), array(std::move(own_array)), dlpack_owner(std::move(owner)) {}
  HeldArray(const HeldArray&) = delete;
  HeldArray& operator=(const HeldArray&) = delete;
  ~HeldArray() {
    drop(guard.release().ptr());
    drop(array.release().ptr());
  }
};

}  // namespace

ArrayArgument::ArrayArgument(nb::handle object, std::string name, CallContext* call) : name_(std::move(name)) {
  if (PyArray_Check(object.ptr())) {
    resolve_numpy(nb::borrow(object));
    return;
  }
  if (auto tensor = import_known_tensor(object, name_.c_str(), call)) {
    hold(std::move(tensor), object, call);
    return;
  }
  std::string failure;
  if (resolve_dlpack(object, failure, call) || resolve_cuda_interface(object, call)) return;
  resolve_any(object, failure);
}

void ArrayArgument::resolve_numpy(nb::object array) {
  refuse_masked_array(array, name_);
  numpy_dtype_ = nb::borrow(reinterpret_cast<PyObject*>(PyArray_DESCR(as_array(array))));
  type_ = element_type(numpy_dtype_, name_.c_str());
  // A view would not notice that its memory has moved.
  if (is_view(array)) guard_ = keep_from_resizing(array);
  array_ = std::move(array);
}

// Returns false if the object has no such interface. `failure` is the error of an attempt.
bool ArrayArgument::resolve_dlpack(nb::handle given, std::string& failure, CallContext* call) {
  if (PyArray_CheckScalar(given.ptr()) || !exports_dlpack(given)) return false;
  const nb::object object = is_lazy_tensor(given) ? resolved_tensor(given) : nb::borrow(given);
  const nb::object capsule = dlpack_capsule(object, name_.c_str(), failure, call);
  if (!capsule.is_valid()) {
    refuse_tracer(object, name_);
    if (!has_attribute(object, "__array__")) raise_invalid_argument(name_ + ": " + failure);
    return false;
  }
  hold(std::make_shared<const DlpackArray>(import_dlpack(capsule, name_.c_str(), call)), object, call);
  return true;
}

bool ArrayArgument::resolve_cuda_interface(nb::handle object, CallContext* call) {
  if (call == nullptr) return false;
  auto array = import_cuda_interface(object, name_.c_str(), *call);
  if (array == nullptr) return false;
  hold(std::move(array), object, call);
  return true;
}

void ArrayArgument::hold(std::shared_ptr<const DlpackArray> array, nb::handle object, CallContext* call) {
  dlpack_ = std::move(array);
  if (!dlpack_->view.device.is_cpu()) on_device_ = {nb::borrow(object), call};
  numpy_dtype_ = dlpack_->numpy_dtype;
  type_ = dlpack_->type;
}

// Converts by np.asarray.
void ArrayArgument::resolve_any(nb::handle object, const std::string& failure) {
  if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) {
    call_with(registered("refuse_masked"), nb::make_tuple(object, new_str(name_)));
  }
  nb::object array;
  try {
    array = as_numpy_array(object);
  } catch (const nb::python_error& e) {
    refuse_tracer(object, name_);
    raise_invalid_argument(name_ + " cannot be read as an array: " + message_of(e) +
                           (failure.empty() ? "" : "; " + failure));
  }
  if (holds_what_is_no_array(as_array(array))) refuse_object(object, name_);
  resolve_numpy(std::move(array));
}

Place ArrayArgument::place() const {
  if (!is_on_device()) return {};
  return {dlpack_->view.device, call_with(registered("library_of"), nb::make_tuple(on_device_.array))};
}

InputArray ArrayArgument::view() const {
  if (dlpack_) return {{}, dlpack_->owner, numpy_dtype_, type_, dlpack_->view, on_device_};
  if (reinterpret_cast<PyObject*>(PyArray_DESCR(as_array(array_))) != numpy_dtype_.ptr()) {
    raise_invalid_argument(name_ + " had dtype " + str_text(numpy_dtype_) +
                           ", which was changed while the arguments were read; change it before or after the call");
  }
  return {array_, {}, numpy_dtype_, type_, view_of_numpy(as_array(array_), type_)};
}

Tensor ArrayArgument::held() const {
  if (on_device_.call != nullptr) return held_on_device();
  nb::object guard = dlpack_ || guard_.is_valid() ? guard_ : keep_from_resizing(array_);
  // The last owner may be a thread without the GIL.
  InputArray input = view();
  auto* held = new HeldArray(std::move(guard), std::move(input.owner), std::move(input.dlpack_owner));
  const std::shared_ptr<HeldArray> owner(
      held, [](HeldArray* array) { release_with_gil([](void* p) { delete static_cast<HeldArray*>(p); }, array); });
  auto* data = const_cast<std::byte*>(input.view.data);
  return Tensor::of(Buffer::wrap(owner, data, input.view.device),
                    View{data, input.view.dtype, input.view.layout, input.view.device});
}

bool ArrayArgument::is_kept_for_call() const {
  const auto stream = reinterpret_cast<std::uintptr_t>(on_device_.call->stream);
  const nb::object told =
      call_with(registered("keep_memory"), nb::make_tuple(on_device_.array, dlpack_->view.device.ordinal, stream));
  return nb::cast<bool>(told);
}

Tensor ArrayArgument::held_on_device() const {
  const ConstView& view = dlpack_->view;
  auto* data = const_cast<std::byte*>(view.data);
  return Tensor::of(owned_buffer(on_device_.array, dlpack_->owner, data, view.device, on_device_.call->stream),
                    View{data, view.dtype, view.layout, view.device});
}

}  // namespace backslice::python
