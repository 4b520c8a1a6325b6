#include "bindings/device_array.h"

#include <nanobind/stl/string.h>

#include <optional>

#include "backslice/cuda.h"
#include "backslice/slice.h"
#include "bindings/arguments.h"
#include "bindings/arrays.h"
#include "bindings/dlpack_export.h"
#include "bindings/errors.h"
#include "bindings/gil.h"
#include "bindings/index.h"
#include "bindings/module.h"
#include "bindings/objects.h"
#include "bindings/protocols.h"
#include "bindings/signatures.h"
#include "kernels/cuda/memory.h"

namespace backslice::python {
namespace {

[[noreturn]] void raise_error(PyObject* kind, const std::string& message) {
  PyErr_SetString(kind, message.c_str());
  nb::raise_python_error();
}

// Returns whether the consumer knows DLPack's version.
bool knows_version_1(nb::handle max_version) {
  if (!PyTuple_Check(max_version.ptr()) || PyTuple_GET_SIZE(max_version.ptr()) != 2) return false;
  std::int64_t major = 0;
  int overflow = 0;
  return find_int(PyTuple_GET_ITEM(max_version.ptr(), 0), major, overflow) && major >= 1;
}

}  // namespace

DeviceArray::DeviceArray(Tensor tensor, nb::object numpy_dtype, Pending pending, std::shared_ptr<void> loan)
    : tensor_(std::move(tensor)),
      dtype_(std::move(numpy_dtype)),
      type_(element_type(dtype_, "the array")),
      pending_(pending),
      loan_(std::move(loan)) {}

nb::tuple DeviceArray::shape() const { return to_tuple(tensor_.shape()); }

std::string DeviceArray::repr() const {
  return "DeviceArray(shape " + repr_text(shape()) + ", dtype " + str_text(dtype_) + ", " + device() + ")";
}

nb::object DeviceArray::to_numpy() const {
  const CudaStream stream = pending_.stream;
  Tensor copy = unwrap(Tensor::make(type_.dtype, tensor_.shape(), type_.item_size));
  if (tensor_.shape().elements() == 0) return python::to_numpy(copy, dtype_);
  check(without_gil([&]() -> Status {
    if (const Status awaited = cuda_await(tensor_.buffer(), stream); !awaited.ok()) return awaited;
    const bool is_dense = is_contiguous(tensor_.view().layout);
    const auto dense =
        is_dense ? Result<Tensor>(tensor_) : slice(Selection::all(tensor_.shape()), tensor_.view(), {.stream = stream});
    if (!dense.ok()) return dense.status();
    const Status copied = cuda_copy(copy, *dense, stream);
    return copied.ok() ? cuda_synchronize(tensor_.device().ordinal, stream) : copied;
  }));
  return python::to_numpy(copy, dtype_);
}

namespace {

// Returns the stream on which the consumer will use the memory, as DLPack numbers streams; nullopt if it requests no
// waiting.
std::optional<CudaStream> consumer_stream(nb::handle stream) {
  if (stream.is_none()) return CudaStream();
  std::int64_t number = 0;
  int overflow = 0;
  if (!find_int(stream, number, overflow) || overflow != 0 || number < -1) {
    raise_error(PyExc_BufferError, "stream is " + repr_text(stream) + ", which is no CUDA stream");
  }
  if (number == -1) return std::nullopt;
  return reinterpret_cast<CudaStream>(static_cast<std::uintptr_t>(number));
}

// Any thread may drop the memory while work on the stream that it named still uses it.
std::shared_ptr<void> kept_for(const Buffer& buffer, CudaStream stream) {
  return {nullptr, [buffer, on = cuda::on_any_thread(stream)](std::nullptr_t) { (void)cuda_keep(buffer, on); }};
}

}  // namespace

nb::object DeviceArray::dlpack(nb::handle self, nb::handle stream, nb::handle max_version, nb::handle dl_device,
                               nb::handle copy) {
  DeviceArray& array = nb::cast<DeviceArray&>(self);
  if (!dl_device.is_none() && !nb::borrow(dl_device).equal(array.dlpack_device())) {
    raise_error(PyExc_BufferError, "dl_device is " + repr_text(dl_device) + ", but the array is on " + array.device());
  }
  if (!copy.is_none() && read_flag(copy, "copy")) {
    raise_error(PyExc_BufferError, "copy is True, but a DeviceArray exports its own memory alone");
  }
  ExportOwner owner{nb::borrow(self), {}, {}};
  if (const auto consumer = consumer_stream(stream)) {
    if (array.pending_.stream != nullptr) {
      check(cuda_wait(array.tensor_.device().ordinal, *consumer, array.pending_.stream));
    }
    // A container may have changed it since.
    check(without_gil([&] { return cuda_await(array.tensor_.buffer(), *consumer); }));
    owner.last_use = kept_for(array.tensor_.buffer(), *consumer);
  }
  return export_dlpack(array.tensor_.view(), array.dtype_, array.type_, std::move(owner), knows_version_1(max_version),
                       0);
}

nb::tuple DeviceArray::dlpack_device() const {
  return nb::make_tuple(static_cast<int>(nb::device::cuda::value), tensor_.device().ordinal);
}

nb::object DeviceArray::cuda_array_interface() const {
  const nb::object code = attribute(dtype_, "str");
  if (attribute(dtype_, "isbuiltin").equal(nb::int_(2))) {
    raise_error(PyExc_AttributeError,
                "__cuda_array_interface__ has no code for dtype " + str_text(dtype_) + "; use __dlpack__");
  }
  nb::dict described;
  described["shape"] = shape();
  described["typestr"] = code;
  described["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(tensor_.data()), false);
  const Layout layout = tensor_.view().layout;
  described["strides"] = is_contiguous(layout) ? nb::object(nb::none()) : nb::object(to_tuple(layout.strides));
  // Consumers wait for the stream that they are told: CUDA's default one unless another is known.
  const CudaStream ready = pending_.stream != nullptr ? pending_.stream : reinterpret_cast<CudaStream>(1);
  check(without_gil([&] { return cuda_await(tensor_.buffer(), ready); }));
  described["stream"] = reinterpret_cast<std::uintptr_t>(ready);
  described["version"] = 3;
  return described;
}

nb::tuple DeviceArray::memory() const {
  Dims strides = tensor_.view().layout.strides;
  for (std::int64_t& stride : strides) stride /= type_.item_size;
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(tensor_.data()), to_tuple(strides), tensor_.device().ordinal);
}

DeviceArray DeviceArray::as_bytes() const {
  Tensor shared = tensor_;
  View view = shared.view();
  view.dtype = DType::UInt8;
  return DeviceArray(Tensor::of(tensor_.buffer(), view), as_numpy_dtype(nb::str("uint8")), pending_, loan_);
}

namespace {

nb::list py_cuda_devices() {
  nb::list all;
  for (const CudaDevice& device : unwrap(without_gil([] { return cuda_devices(); }))) {
    nb::dict described;
    described["ordinal"] = device.ordinal;
    described["name"] = nb::str(device.name.c_str());
    described["capability"] = nb::make_tuple(device.major, device.minor);
    described["bytes"] = device.bytes;
    described["multiprocessors"] = device.multiprocessors;
    all.append(described);
  }
  return all;
}

// 13020 is 13.2; 0 means none.
nb::object version_of(int number) {
  if (number == 0) return nb::none();
  return nb::make_tuple(number / 1000, number % 1000 / 10);
}

nb::dict py_cuda_versions() {
  const CudaVersions versions = unwrap(without_gil([] { return cuda_versions(); }));
  nb::dict described;
  described["runtime"] = version_of(versions.runtime);
  described["driver"] = version_of(versions.driver);
  return described;
}

}  // namespace

void bind_device_arrays(nb::module_& m) {
  nb::class_<DeviceArray>(m, "DeviceArray", class_doc("DeviceArray"))
      .def_prop_ro("shape", &DeviceArray::shape)
      .def_prop_ro("dtype", &DeviceArray::dtype)
      .def_prop_ro("device", &DeviceArray::device)
      .def("to_numpy", &DeviceArray::to_numpy)
      .def("__dlpack__", &DeviceArray::dlpack)
      .def("__dlpack_device__", &DeviceArray::dlpack_device)
      .def_prop_ro("__cuda_array_interface__", &DeviceArray::cuda_array_interface)
      .def_prop_ro("_memory", &DeviceArray::memory)
      .def_prop_ro("_as_bytes", &DeviceArray::as_bytes)
      .def("__array__",
           [](const DeviceArray& self, nb::handle, nb::handle) {
             raise_dtype_error("a DeviceArray is on " + self.device() + ": use .to_numpy(), which copies it");
           })
      .def("__reduce__", reduced)
      .def("__repr__", &DeviceArray::repr);
  m.def("_cuda_devices", py_cuda_devices);
  m.def("_cuda_versions", py_cuda_versions);
}

}  // namespace backslice::python
