#include "bindings/dlpack.h"

#include <cstring>

#include "backslice/cuda.h"
#include "bindings/arguments.h"
#include "bindings/dlpack_abi.h"
#include "bindings/errors.h"
#include "bindings/package.h"

namespace backslice::python {
namespace {

using nb::dlpack::dltensor;

using dlpack::Managed;
using dlpack::VersionedManaged;

[[noreturn]] void refuse_dlpack(const char* argument, const std::string& what) {
  raise_invalid_argument(std::string(argument) + ": the DLPack tensor " + what);
}

// Returns whether a dtype of that name has a code in DLPack.
bool is_carried(std::string_view dtype) {
  for (std::string_view known : {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                                 "float16", "float32", "float64", "bfloat16", "complex64", "complex128"}) {
    if (dtype == known) return true;
  }
  return dtype.starts_with("float8_");
}

// Returns whether it is a list or a number: frequent arguments, which have no __dlpack__.
bool is_builtin(nb::handle object) {
  PyObject* p = object.ptr();
  return PyList_CheckExact(p) || PyTuple_CheckExact(p) || PyFloat_CheckExact(p) || PyLong_CheckExact(p);
}

// Returns whether it is a NumPy dtype that DLPack carries. Does not look up its name, which takes long.
bool is_numpy_number(nb::handle dtype) {
  if (!PyArray_DescrCheck(dtype.ptr())) return false;
  const int number = reinterpret_cast<PyArray_Descr*>(dtype.ptr())->type_num;
  return PyTypeNum_ISNUMBER(number) || PyTypeNum_ISBOOL(number);
}

// Returns strides in bytes for axes with more than one position. Refuses memory that no machine can address.
Dims byte_strides(const dltensor& tensor, std::int64_t item_size, const char* argument) {
  constexpr std::int64_t kAddressSpace = std::int64_t{1} << 56;
  Dims strides;
  bool is_empty = false;
  for (int i = 0; i < tensor.ndim; ++i) {
    strides.push_back(0);
    is_empty |= tensor.shape[i] == 0;
  }
  if (is_empty) return strides;
  std::int64_t span = 0, extent = 0;
  for (int i = 0; i < tensor.ndim; ++i) {
    std::int64_t& stride = strides[i];
    if (tensor.shape[i] <= 1) continue;
    bool overflows = __builtin_mul_overflow(tensor.strides[i], item_size, &stride);
    overflows |= __builtin_mul_overflow(tensor.shape[i] - 1, stride, &extent);
    overflows |= __builtin_add_overflow(span, extent < 0 ? -(extent + 1) : extent, &span);
    if (overflows || span >= kAddressSpace) {
      refuse_dlpack(argument, "has strides[" + std::to_string(i) + "] = " + std::to_string(tensor.strides[i]) +
                                  " and shape[" + std::to_string(i) + "] = " + std::to_string(tensor.shape[i]) +
                                  ", which no memory is large enough for");
    }
  }
  return strides;
}

bool is_cuda(std::int64_t device_type) {
  return device_type == nb::device::cuda::value || device_type == nb::device::cuda_managed::value;
}

Device device_of(const dltensor& tensor) {
  return is_cuda(tensor.device.device_type) ? Device::cuda(tensor.device.device_id) : Device::cpu();
}

// Returns the array's device: the CPU, or the device on which its library was asked to prepare it.
void check_device(const dltensor& tensor, const char* argument, const CallContext* call) {
  if (tensor.device.device_type == nb::device::cpu::value) return;
  if (call != nullptr && is_cuda(tensor.device.device_type)) {
    if (call->runs_on(device_of(tensor))) return;
    refuse_dlpack(argument, "is on a device of type " + std::to_string(tensor.device.device_type) + ", " +
                                to_string(device_of(tensor)) + ", but its __dlpack_device__ says otherwise");
  }
  refuse_dlpack(argument, "is on a device of type " + std::to_string(tensor.device.device_type) +
                              ", not on the CPU; copy it there first");
}

void check_description(const dltensor& tensor, const char* argument) {
  if (tensor.ndim < 0 || tensor.ndim > kMaxRank) {
    refuse_dlpack(argument,
                  "has " + std::to_string(tensor.ndim) + " axes; 0 to " + std::to_string(kMaxRank) + " are supported");
  }
  if (tensor.ndim > 0 && tensor.shape == nullptr) refuse_dlpack(argument, "has no shape");
}

// Returns the first element, or null if there is none.
const std::byte* first_element(const dltensor& tensor, const Shape& shape, const char* argument) {
  if (shape.elements() == 0) return nullptr;
  if (tensor.data == nullptr) refuse_dlpack(argument, "has elements but no memory");
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data);
  if (tensor.byte_offset > UINTPTR_MAX - address) {
    refuse_dlpack(argument,
                  "has byte_offset " + std::to_string(tensor.byte_offset) + ", which leaves the address space");
  }
  return static_cast<const std::byte*>(tensor.data) + tensor.byte_offset;
}

DlpackArray array_of(const dltensor& tensor, const char* argument, const CallContext* call) {
  check_device(tensor, argument, call);
  nb::object dtype = numpy_dtype(tensor.dtype, argument);
  const ElementType type = element_type(dtype, argument);
  return {{}, std::move(dtype), type, view_of(tensor, type, argument)};
}

// The answer of __dlpack_device__. An answer that is not a pair of integers is ignored: the tensor has its device too.
struct ReportedDevice {
  std::int64_t type = nb::device::cpu::value, ordinal = 0;

  explicit ReportedDevice(nb::handle device) {
    if (!PyTuple_Check(device.ptr()) || PyTuple_GET_SIZE(device.ptr()) != 2) return;
    int overflow = 0;
    if (!find_int(PyTuple_GET_ITEM(device.ptr(), 0), type, overflow)) return;
    if (!find_int(PyTuple_GET_ITEM(device.ptr(), 1), ordinal, overflow) || ordinal < 0 || ordinal > INT32_MAX)
      ordinal = 0;
  }
};

// Returns the stream for the exporter: None on the CPU.
nb::object stream_for(nb::handle object, const char* argument, CallContext* call) {
  const nb::object device = python::call(attribute(object, "__dlpack_device__"));
  const ReportedDevice reported(device);
  if (reported.type == nb::device::cpu::value) return nb::none();
  if (call != nullptr && is_cuda(reported.type)) {
    return call->stream_for(object, argument, static_cast<int>(reported.ordinal));
  }
  raise_invalid_argument(std::string(argument) + " is on device " + repr_text(device) +
                         ", not on the CPU; copy it there first");
}

enum class Versioned { Yes, No };

nb::object call_with_options(nb::handle method, nb::handle stream, Versioned versioned) {
  if (stream.is_none() && versioned == Versioned::No) return call(method);
  const nb::object none = nb::make_tuple();
  nb::dict options;
  if (!stream.is_none()) options["stream"] = stream;
  if (versioned == Versioned::Yes) options["max_version"] = nb::make_tuple(1, 0);
  return checked([&] { return PyObject_Call(method.ptr(), none.ptr(), options.ptr()); });
}

// Calls `first`, then `second` if that raises an error of this kind.
template <class First, class Second>
nb::object call_either(const First& first, PyObject* error, const Second& second) {
  try {
    return first();
  } catch (const nb::python_error& e) {
    if (!e.matches(error)) throw;
  }
  return second();
}

// Exporters older than version 1 accept no arguments; newer ones refuse to export read-only memory without them.
nb::object call_dlpack(nb::handle method, nb::handle stream) {
  return call_either([&] { return call_with_options(method, stream, Versioned::No); }, PyExc_BufferError,
                     [&] { return call_with_options(method, stream, Versioned::Yes); });
}
nb::object call_dlpack_for_writing(nb::handle method, nb::handle stream) {
  return call_either([&] { return call_with_options(method, stream, Versioned::Yes); }, PyExc_TypeError,
                     [&] { return call_with_options(method, stream, Versioned::No); });
}

template <class CallMethod>
nb::object capsule_from(nb::handle object, const char* argument, std::string& failure, CallContext* call,
                        const CallMethod& call_method) {
  try {
    const nb::object stream = stream_for(object, argument, call);
    return call_method(attribute(object, "__dlpack__"), stream);
  } catch (const nb::python_error& e) {
    if (is_own_error(e)) throw;
    failure = type_text(object) + ".__dlpack__ failed: " + message_of(e);
    return {};
  }
}

template <class AnyManaged>
DlpackArray take(nb::handle capsule, AnyManaged* managed, const char* argument, const CallContext* call) {
  DlpackArray array = array_of(managed->tensor, argument, call);
  if (PyCapsule_SetName(capsule.ptr(), AnyManaged::kUsedName) != 0) nb::raise_python_error();
  array.owner = std::shared_ptr<void>(managed, [managed](void*) {
    if (managed->deleter != nullptr) call_python([managed] { managed->deleter(managed); });
  });
  return array;
}

}  // namespace

ConstView view_of(const dltensor& tensor, const ElementType& type, const char* argument) {
  check_description(tensor, argument);
  const Shape shape = unwrap(Shape::make(Ints(tensor.shape, static_cast<std::size_t>(tensor.ndim)), argument));
  const std::byte* data = first_element(tensor, shape, argument);
  const Device device = device_of(tensor);
  if (tensor.strides == nullptr) {
    return unwrap(ConstView::contiguous(data, type.dtype, shape, type.item_size, device));
  }
  const auto strides = byte_strides(tensor, type.item_size, argument);
  return unwrap(ConstView::strided(data, type.dtype, shape, strides, type.item_size, device));
}

std::shared_ptr<void> kept(nb::handle object) {
  return {object.inc_ref().ptr(), [](PyObject* p) { drop(p); }};
}

bool exports_dlpack(nb::handle object) {
  if (is_builtin(object) || !has_attribute(object, "__dlpack__")) return false;
  const nb::object dtype = find_attribute(object, "dtype");
  if (!dtype.is_valid() || is_numpy_number(dtype)) return true;
  const nb::object name = find_attribute(dtype, "name");
  if (!name.is_valid() || !PyUnicode_Check(name.ptr())) return true;  // the version does not report it
  const auto text = utf8_of(name);
  return text && is_carried(*text);
}

nb::object dlpack_capsule(nb::handle object, const char* argument, std::string& failure, CallContext* call) {
  return capsule_from(object, argument, failure, call, call_dlpack);
}

nb::object writable_dlpack_capsule(nb::handle object, const char* argument, std::string& failure, CallContext* call) {
  return capsule_from(object, argument, failure, call, call_dlpack_for_writing);
}

DlpackArray import_dlpack(nb::handle capsule, const char* argument, const CallContext* call) {
  const std::string prefix = std::string(argument) + ": __dlpack__ returned ";
  if (!PyCapsule_CheckExact(capsule.ptr())) {
    raise_invalid_argument(prefix + "a " + type_text(capsule) + ", expected a capsule named \"dltensor\"");
  }
  if (PyCapsule_IsValid(capsule.ptr(), Managed::kName) != 0) {
    return take(capsule, static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), Managed::kName)), argument, call);
  }
  if (PyCapsule_IsValid(capsule.ptr(), VersionedManaged::kName) != 0) {
    auto* managed = static_cast<VersionedManaged*>(PyCapsule_GetPointer(capsule.ptr(), VersionedManaged::kName));
    if (managed->major != 1) refuse_dlpack(argument, "has version " + std::to_string(managed->major) + ", expected 1");
    DlpackArray array = take(capsule, managed, argument, call);
    array.is_versioned = true;
    array.is_read_only = (managed->flags & dlpack::kReadOnly) != 0;
    array.is_copy = (managed->flags & dlpack::kIsCopy) != 0;
    return array;
  }
  const char* name = PyCapsule_GetName(capsule.ptr());
  const bool is_used = name != nullptr && std::string_view(name).starts_with("used_dltensor");
  raise_invalid_argument(prefix + (is_used ? "a capsule that has been used already"
                                           : "a capsule named " + (name ? "\"" + std::string(name) + "\"" : "NULL") +
                                                 ", expected \"dltensor\""));
}

std::shared_ptr<const DlpackArray> import_cuda_interface(nb::handle object, const char* argument, CallContext& call) {
  if (is_builtin(object) || !has_attribute(object, "__cuda_array_interface__")) return nullptr;
  const nb::object reported = call_with(registered("cuda_interface"), nb::make_tuple(object));
  if (reported.is_none()) {
    raise_invalid_argument(std::string(argument) + ": its __cuda_array_interface__ cannot be read, or has a mask");
  }
  auto array = std::make_shared<DlpackArray>();
  array->numpy_dtype = nb::borrow(reported[0]);
  check_on_device(array->numpy_dtype, argument);
  array->type = element_type(array->numpy_dtype, argument);
  const auto* data = reinterpret_cast<const std::byte*>(nb::cast<std::uintptr_t>(reported[3]));
  const Device device = data == nullptr ? Device::cuda(0) : unwrap(cuda_device_of(data));
  const auto shape = read_shape(reported[1], argument);
  const auto& type = array->type;
  array->view = reported[2].is_none()
                    ? unwrap(ConstView::contiguous(data, type.dtype, shape, type.item_size, device))
                    : unwrap(ConstView::strided(data, type.dtype, shape, read_shape(reported[2], argument),
                                                type.item_size, device));
  array->is_versioned = true;  // it reports whether the memory may be written
  array->is_read_only = nb::cast<bool>(reported[4]);
  array->owner = kept(object);
  call.stream_for(object, argument, device.ordinal);
  const auto ready = nb::cast<std::uintptr_t>(reported[5]);
  if (ready != 0) check(cuda_wait(device.ordinal, call.stream, reinterpret_cast<CudaStream>(ready)));
  return array;
}

}  // namespace backslice::python
