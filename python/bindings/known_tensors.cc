#include "bindings/known_tensors.h"

#include <string_view>
#include <vector>

#include "bindings/errors.h"
#include "bindings/index.h"
#include "bindings/objects.h"
#include "bindings/package.h"

namespace backslice::python {
namespace {

using nb::dlpack::dltensor;

// DLPack's functions in C for arrays of one class, as its specification lays them out from version 1.3 on.
struct ExchangeApi {
  static constexpr const char* kName = "dlpack_exchange_api";
  std::uint32_t major, minor;
  void* previous;
  void* allocate;
  void* from_object;
  void* to_object;
  int (*view_of_object)(void* object, dltensor* view);
  int (*current_stream)(int device_type, std::int32_t device, void** stream);
};

// CUDA's default stream, as DLPack numbers it.
constexpr std::uintptr_t kDefaultStream = 1;

// The name alone, so that nobody else's classes are asked.
bool may_be_tensor(nb::handle object) { return std::string_view(Py_TYPE(object.ptr())->tp_name) == "Tensor"; }

// The class of PyTorch's tensors, which is looked at once. Tensors on the current device are made by `empty_strided`,
// which is None where PyTorch has no such function.
struct KnownClass {
  nb::object type, library;
  const ExchangeApi* api = nullptr;
  nb::object empty_strided, current_device;
};

KnownClass& known_class() {
  static KnownClass& known = *new KnownClass();  // lives as long as the process
  return known;
}

// What the class has, or null: also for a class of that name that is not PyTorch's.
const ExchangeApi* find_api(nb::handle object) {
  KnownClass& known = known_class();
  const nb::handle its_class(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())));
  if (known.type.is_valid() && known.type.is(its_class)) return known.api;
  const nb::object capsule = find_attribute(its_class, "__dlpack_c_exchange_api__");
  if (!capsule.is_valid() || PyCapsule_IsValid(capsule.ptr(), ExchangeApi::kName) == 0) return nullptr;
  const auto* api = static_cast<const ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), ExchangeApi::kName));
  if (api->major != 1 || api->view_of_object == nullptr || api->current_stream == nullptr) return nullptr;
  const nb::object library = call_with(registered("library_of"), nb::make_tuple(object));
  if (!nb::cast<bool>(attribute(library, "keeps_memory"))) return nullptr;
  known = {nb::borrow(its_class), library, api, attribute(library, "empty_strided"),
           attribute(library, "current_device")};
  return api;
}

// What is asked of every tensor of a list: names are made once, and methods are called without an object for each.
struct Names {
  nb::object requires_grad = interned("requires_grad"), is_neg = interned("is_neg"), is_conj = interned("is_conj");

  static nb::object interned(const char* name) {
    return checked([&] { return PyUnicode_InternFromString(name); });
  }
};

// Whether an attribute or a method's result, which is new, is False. Where there is none, the object is not what it
// seems.
bool is_false(PyObject* result) {
  const nb::object found = nb::steal(result);
  if (!found.is_valid() && PyErr_ExceptionMatches(PyExc_AttributeError) == 0) nb::raise_python_error();
  PyErr_Clear();
  return found.ptr() == Py_False;
}

bool returns_false(nb::handle object, const nb::object& method) {
  PyObject* const self = object.ptr();
  return is_false(call_python([&] { return PyObject_CallMethodNoArgs(self, method.ptr()); }));
}

// Whether there is more behind a tensor than its memory says.
bool is_more_than_memory(nb::handle object, const dltensor& tensor) {
  static const Names& names = *new Names();  // live as long as the process
  if (!is_false(call_python([&] { return PyObject_GetAttr(object.ptr(), names.requires_grad.ptr()); }))) return true;
  if (!returns_false(object, names.is_neg)) return true;
  return tensor.dtype.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Complex) &&
         !returns_false(object, names.is_conj);
}

// NumPy's dtype of a DLPack type, looked up once each.
nb::object known_dtype(nb::dlpack::dtype dtype, const char* argument) {
  struct Known {
    nb::dlpack::dtype dtype;
    nb::object numpy;
  };
  static std::vector<Known>& known = *new std::vector<Known>();  // lives as long as the process
  for (const Known& one : known) {
    if (one.dtype.code == dtype.code && one.dtype.bits == dtype.bits && one.dtype.lanes == dtype.lanes)
      return one.numpy;
  }
  known.push_back({dtype, numpy_dtype(dtype, argument)});
  return known.back().numpy;
}

}  // namespace

nb::object new_known_tensor(nb::handle like, const ConstView& view_of_like, const Shape& shape, View& view) {
  const KnownClass& known = known_class();
  const bool is_known = known.type.is_valid() && like.type().is(known.type);
  if (!is_known || shape.elements() == 0 || known.empty_strided.is_none() || known.current_device.is_none()) return {};
  if (nb::cast<int>(call(known.current_device)) != view_of_like.device.ordinal) return {};
  const Layout layout = contiguous_layout(shape, 1);  // in elements
  nb::object made = call_with(known.empty_strided,
                              nb::make_tuple(to_tuple(shape), to_tuple(layout.strides), attribute(like, "dtype")));
  dltensor tensor;
  if (known.api->view_of_object(made.ptr(), &tensor) != 0) throw nb::python_error();
  view = {static_cast<std::byte*>(tensor.data), view_of_like.dtype,
          contiguous_layout(shape, view_of_like.layout.item_size), view_of_like.device};
  return made;
}

std::shared_ptr<const DlpackArray> import_known_tensor(nb::handle object, const char* argument, CallContext* call) {
  if (call == nullptr || !may_be_tensor(object)) return nullptr;
  const ExchangeApi* api = find_api(object);
  dltensor tensor;
  void* stream = nullptr;
  if (api == nullptr || api->view_of_object(object.ptr(), &tensor) != 0 ||
      tensor.device.device_type != nb::device::cuda::value || is_more_than_memory(object, tensor) ||
      api->current_stream(tensor.device.device_type, tensor.device.device_id, &stream) != 0) {
    PyErr_Clear();  // the protocols say what is wrong
    return nullptr;
  }
  auto array = std::make_shared<DlpackArray>();
  array->numpy_dtype = known_dtype(tensor.dtype, argument);
  array->type = element_type(array->numpy_dtype, argument);
  array->view = view_of(tensor, array->type, argument);
  array->is_versioned = true;  // it is known that others may write
  array->owner = kept(object);
  const auto number = stream != nullptr ? reinterpret_cast<std::uintptr_t>(stream) : kDefaultStream;
  call->use(known_class().library, number, argument, array->view.device.ordinal);
  return array;
}

}  // namespace backslice::python
