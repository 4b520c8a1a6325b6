#include "bindings/dlpack.h"

#include <cstring>
#include <vector>

#include "bindings/arguments.h"
#include "bindings/dlpack_abi.h"
#include "bindings/errors.h"

namespace backslice::python {
namespace {

using nb::dlpack::dltensor;

using dlpack::Managed;
using dlpack::VersionedManaged;

[[noreturn]] void refuse(const char* argument, const std::string& what) {
  raise_invalid_argument(std::string(argument) + ": the DLPack tensor " + what);
}

// Whether a dtype of that name has a code in DLPack.
bool is_carried(std::string_view dtype) {
  for (std::string_view known : {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                                 "float16", "float32", "float64", "bfloat16", "complex64", "complex128"}) {
    if (dtype == known) return true;
  }
  return dtype.starts_with("float8_");
}

// Lists and numbers, which are asked for often and do not have it.
bool is_builtin(nb::handle object) {
  PyObject* p = object.ptr();
  return PyList_CheckExact(p) || PyTuple_CheckExact(p) || PyFloat_CheckExact(p) || PyLong_CheckExact(p);
}

// Whether it is a NumPy dtype that DLPack carries, without asking for its name, which takes long.
bool is_numpy_number(nb::handle dtype) {
  if (!PyArray_DescrCheck(dtype.ptr())) return false;
  const int number = reinterpret_cast<PyArray_Descr*>(dtype.ptr())->type_num;
  return PyTypeNum_ISNUMBER(number) || PyTypeNum_ISBOOL(number);
}

// Strides in bytes, of axes along which something moves. Memory that no machine can address is refused.
std::vector<std::int64_t> byte_strides(const dltensor& tensor, std::int64_t item_size, const char* argument) {
  constexpr std::int64_t kAddressSpace = std::int64_t{1} << 56;
  std::vector<std::int64_t> strides(static_cast<std::size_t>(tensor.ndim), 0);
  for (int i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] == 0) return strides;
  }
  std::int64_t span = 0, extent = 0;
  for (int i = 0; i < tensor.ndim; ++i) {
    auto& stride = strides[static_cast<std::size_t>(i)];
    if (tensor.shape[i] <= 1) continue;
    bool overflows = __builtin_mul_overflow(tensor.strides[i], item_size, &stride);
    overflows |= __builtin_mul_overflow(tensor.shape[i] - 1, stride, &extent);
    overflows |= __builtin_add_overflow(span, extent < 0 ? -(extent + 1) : extent, &span);
    if (overflows || span >= kAddressSpace) {
      refuse(argument, "has strides[" + std::to_string(i) + "] = " + std::to_string(tensor.strides[i]) + " and shape[" +
                           std::to_string(i) + "] = " + std::to_string(tensor.shape[i]) +
                           ", which no memory is large enough for");
    }
  }
  return strides;
}

void check_description(const dltensor& tensor, const char* argument) {
  if (tensor.device.device_type != nb::device::cpu::value) {
    refuse(argument, "is on a device of type " + std::to_string(tensor.device.device_type) +
                         ", not on the CPU; copy it there first");
  }
  if (tensor.ndim < 0 || tensor.ndim > kMaxRank) {
    refuse(argument,
           "has " + std::to_string(tensor.ndim) + " axes; 0 to " + std::to_string(kMaxRank) + " are supported");
  }
  if (tensor.ndim > 0 && tensor.shape == nullptr) refuse(argument, "has no shape");
}

// The first element, or null where there is none.
const std::byte* first_element(const dltensor& tensor, const Shape& shape, const char* argument) {
  if (shape.elements() == 0) return nullptr;
  if (tensor.data == nullptr) refuse(argument, "has elements but no memory");
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data);
  if (tensor.byte_offset > UINTPTR_MAX - address) {
    refuse(argument, "has byte_offset " + std::to_string(tensor.byte_offset) + ", which leaves the address space");
  }
  return static_cast<const std::byte*>(tensor.data) + tensor.byte_offset;
}

DlpackArray view_of(const dltensor& tensor, const char* argument) {
  check_description(tensor, argument);
  nb::object dtype = numpy_dtype(tensor.dtype, argument);
  const ElementType type = element_type(dtype, argument);
  const Shape shape = unwrap(Shape::make(Ints(tensor.shape, static_cast<std::size_t>(tensor.ndim)), argument));
  const std::byte* data = first_element(tensor, shape, argument);
  if (tensor.strides == nullptr) {
    return {{}, std::move(dtype), type, unwrap(ConstView::contiguous(data, type.dtype, shape, type.item_size))};
  }
  const auto strides = byte_strides(tensor, type.item_size, argument);
  return {{}, std::move(dtype), type, unwrap(ConstView::strided(data, type.dtype, shape, strides, type.item_size))};
}

// What is no pair of integers tells nothing: the tensor says where it is as well.
void refuse_other_devices(nb::handle device, const char* argument) {
  if (!PyTuple_Check(device.ptr()) || PyTuple_GET_SIZE(device.ptr()) != 2) return;
  std::int64_t type = 0;
  int overflow = 0;
  if (!find_int(PyTuple_GET_ITEM(device.ptr(), 0), type, overflow) || type == nb::device::cpu::value) return;
  raise_invalid_argument(std::string(argument) + " is on device " + repr_text(device) +
                         ", not on the CPU; copy it there first");
}

nb::object call_versioned(nb::handle method) {
  const nb::object none = nb::make_tuple();
  nb::dict version;
  version["max_version"] = nb::make_tuple(1, 0);
  return checked([&] { return PyObject_Call(method.ptr(), none.ptr(), version.ptr()); });
}

// Tries `first`, then `second` where that raises an error of this kind.
template <class First, class Second>
nb::object call_either(const First& first, PyObject* error, const Second& second) {
  try {
    return first();
  } catch (const nb::python_error& e) {
    if (!e.matches(error)) throw;
  }
  return second();
}

// Exporters older than version 1 know no arguments; newer ones refuse to export read-only memory without them.
nb::object call_dlpack(nb::handle method) {
  return call_either([&] { return call(method); }, PyExc_BufferError, [&] { return call_versioned(method); });
}
nb::object call_dlpack_for_writing(nb::handle method) {
  return call_either([&] { return call_versioned(method); }, PyExc_TypeError, [&] { return call(method); });
}

template <class CallMethod>
nb::object capsule_from(nb::handle object, const char* argument, std::string& failure, const CallMethod& call_method) {
  try {
    refuse_other_devices(call(attribute(object, "__dlpack_device__")), argument);
    return call_method(attribute(object, "__dlpack__"));
  } catch (const nb::python_error& e) {
    if (is_own_error(e)) throw;
    failure = type_text(object) + ".__dlpack__ failed: " + message_of(e);
    return {};
  }
}

template <class AnyManaged>
DlpackArray take(nb::handle capsule, AnyManaged* managed, const char* argument) {
  DlpackArray array = view_of(managed->tensor, argument);
  if (PyCapsule_SetName(capsule.ptr(), AnyManaged::kUsedName) != 0) nb::raise_python_error();
  array.owner = std::shared_ptr<void>(managed, [managed](void*) {
    if (managed->deleter != nullptr) call_python([managed] { managed->deleter(managed); });
  });
  return array;
}

}  // namespace

bool exports_dlpack(nb::handle object) {
  if (is_builtin(object) || !has_attribute(object, "__dlpack__")) return false;
  const nb::object dtype = find_attribute(object, "dtype");
  if (!dtype.is_valid() || is_numpy_number(dtype)) return true;
  const nb::object name = find_attribute(dtype, "name");
  if (!name.is_valid() || !PyUnicode_Check(name.ptr())) return true;  // it does not tell
  const auto text = utf8_of(name);
  return text && is_carried(*text);
}

nb::object dlpack_capsule(nb::handle object, const char* argument, std::string& failure) {
  return capsule_from(object, argument, failure, call_dlpack);
}

nb::object writable_dlpack_capsule(nb::handle object, const char* argument, std::string& failure) {
  return capsule_from(object, argument, failure, call_dlpack_for_writing);
}

DlpackArray import_dlpack(nb::handle capsule, const char* argument) {
  const std::string prefix = std::string(argument) + ": __dlpack__ returned ";
  if (!PyCapsule_CheckExact(capsule.ptr())) {
    raise_invalid_argument(prefix + "a " + type_text(capsule) + ", expected a capsule named \"dltensor\"");
  }
  if (PyCapsule_IsValid(capsule.ptr(), Managed::kName) != 0) {
    return take(capsule, static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), Managed::kName)), argument);
  }
  if (PyCapsule_IsValid(capsule.ptr(), VersionedManaged::kName) != 0) {
    auto* managed = static_cast<VersionedManaged*>(PyCapsule_GetPointer(capsule.ptr(), VersionedManaged::kName));
    if (managed->major != 1) refuse(argument, "has version " + std::to_string(managed->major) + ", expected 1");
    DlpackArray array = take(capsule, managed, argument);
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

}  // namespace backslice::python
