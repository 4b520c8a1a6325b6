#include "bindings/known_tensors.h"

#include <atomic>
#include <optional>
#include <string_view>
#include <utility>

#include "bindings/errors.h"
#include "bindings/index.h"
#include "bindings/objects.h"
#include "bindings/package.h"
#include "bindings/short_arguments.h"

namespace backslice::python {

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

namespace {

// CUDA's default stream, as DLPack numbers it.
constexpr std::uintptr_t kDefaultStream = 1;

// The name alone, so that nobody else's classes are asked.
bool may_be_tensor(nb::handle object) { return std::string_view(Py_TYPE(object.ptr())->tp_name) == "Tensor"; }

// Values that are looked up once and live as long as the process. Threads find and add them at the same time. A value
// that two threads add at once is there twice.
template <class T>
class FoundOnce {
 public:
  // Null where no value passes the test.
  template <class Test>
  const T* find(const Test& test) const {
    const Node* node = first_.load(std::memory_order_acquire);
    while (node != nullptr && !test(node->value)) node = node->next;
    return node == nullptr ? nullptr : &node->value;
  }
  const T* add(T value) {
    auto* node = new Node{std::move(value), first_.load(std::memory_order_relaxed)};
    while (!first_.compare_exchange_weak(node->next, node, std::memory_order_release, std::memory_order_relaxed)) {
    }
    return &node->value;
  }

 private:
  struct Node {
    T value;
    Node* next;
  };
  std::atomic<Node*> first_ = nullptr;
};

// The class of PyTorch's tensors. Tensors on the current device are made by `empty_strided`, which is None where
// PyTorch has no such function.
struct KnownClass {
  nb::object type, library;
  const ExchangeApi* api = nullptr;
  nb::object empty_strided, current_device;
};
FoundOnce<KnownClass> known_classes;

const KnownClass* known_class(nb::handle type) {
  return known_classes.find([&](const KnownClass& known) { return known.type.is(type); });
}

// Returns null for a class of that name which PyTorch does not own.
const KnownClass* find_class(nb::handle object) {
  const nb::handle its_class(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())));
  if (const KnownClass* known = known_class(its_class)) return known;
  const nb::object capsule = find_attribute(its_class, "__dlpack_c_exchange_api__");
  if (!capsule.is_valid() || PyCapsule_IsValid(capsule.ptr(), ExchangeApi::kName) == 0) return nullptr;
  const auto* api = static_cast<const ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), ExchangeApi::kName));
  if (api->major != 1 || api->view_of_object == nullptr || api->current_stream == nullptr) return nullptr;
  const nb::object library = call_with(registered("library_of"), nb::make_tuple(object));
  if (!nb::cast<bool>(attribute(library, "keeps_memory"))) return nullptr;
  return known_classes.add(
      {nb::borrow(its_class), library, api, attribute(library, "empty_strided"), attribute(library, "current_device")});
}

// The attributes that are read from every array of a list. Their names are made once.
struct Names {
  nb::object requires_grad = interned("requires_grad"), is_neg = interned("is_neg"), is_conj = interned("is_conj");
  nb::object data = interned("data"), ptr = interned("ptr"), device_id = interned("device_id");
  nb::object shape = interned("shape"), strides = interned("strides"), dtype = interned("dtype");
  nb::object is_contiguous = interned("_c_contiguous");

  static nb::object interned(const char* name) {
    return checked([&] { return PyUnicode_InternFromString(name); });
  }
};
const Names* made_names = nullptr;  // live as long as the process
const Names& names() { return *made_names; }

// Returns a new reference; an invalid one if the attribute does not exist, since the object is then of another kind.
nb::object existing(PyObject* result) {
  if (result == nullptr) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) nb::raise_python_error();
    PyErr_Clear();
  }
  return nb::steal(result);
}

nb::object member(nb::handle object, const nb::object& name) {
  return existing(call_python([&] { return PyObject_GetAttr(object.ptr(), name.ptr()); }));
}

bool returns_false(nb::handle object, const nb::object& method) {
  PyObject* const self = object.ptr();
  return existing(call_python([&] { return PyObject_CallMethodNoArgs(self, method.ptr()); })).ptr() == Py_False;
}

// Whether there is more behind a tensor than its memory says.
bool is_more_than_memory(nb::handle object, const dltensor& tensor) {
  if (member(object, names().requires_grad).ptr() != Py_False || !returns_false(object, names().is_neg)) return true;
  return tensor.dtype.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Complex) &&
         !returns_false(object, names().is_conj);
}

// NumPy's dtype of a DLPack type.
struct KnownDtype {
  nb::dlpack::dtype dtype;
  nb::object numpy;
};
FoundOnce<KnownDtype> known_dtypes;

nb::object known_dtype(nb::dlpack::dtype dtype, const char* argument) {
  const KnownDtype* known = known_dtypes.find([&](const KnownDtype& one) {
    return one.dtype.code == dtype.code && one.dtype.bits == dtype.bits && one.dtype.lanes == dtype.lanes;
  });
  if (known == nullptr) known = known_dtypes.add({dtype, numpy_dtype(dtype, argument)});
  return known->numpy;
}

// -- Arrays of CuPy, whose attributes say where they lie

// Whether the class, which is looked at once, is the one that its library has for such arrays.
bool has_pointer(nb::handle object) {
  static std::atomic<PyTypeObject*> known = nullptr;
  PyTypeObject* const its_class = Py_TYPE(object.ptr());
  if (known.load(std::memory_order_relaxed) == its_class) return true;
  if (std::string_view(its_class->tp_name) != "ndarray") return false;
  const nb::object library = call_with(registered("library_of"), nb::make_tuple(object));
  if (!attribute(library, "pointer_class").is(nb::handle(reinterpret_cast<PyObject*>(its_class)))) return false;
  Py_INCREF(its_class);  // it lives as long as the process
  known.store(its_class, std::memory_order_relaxed);
  return true;
}

std::optional<std::int64_t> exact_int(nb::handle object) {
  if (!object.is_valid() || !PyLong_CheckExact(object.ptr())) return {};
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  return overflow == 0 ? std::optional<std::int64_t>(value) : std::nullopt;
}

std::optional<Dims> exact_ints(nb::handle tuple) {
  if (!tuple.is_valid() || !PyTuple_CheckExact(tuple.ptr()) || PyTuple_GET_SIZE(tuple.ptr()) > kMaxRank) return {};
  Dims list;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.ptr()); ++i) {
    const auto value = exact_int(PyTuple_GET_ITEM(tuple.ptr(), i));
    if (!value) return {};
    list.push_back(*value);
  }
  return list;
}

// Nothing where anything is not as expected: the protocols say what is wrong.
std::optional<ConstView> view_of_pointer(nb::handle object, const ElementType& type) {
  const nb::object memory = member(object, names().data);
  if (!memory.is_valid()) return {};
  const auto address = exact_int(member(memory, names().ptr)), ordinal = exact_int(member(memory, names().device_id));
  const auto shape = exact_ints(member(object, names().shape));
  if (!shape || !address || !ordinal || *ordinal < 0 || *ordinal > INT32_MAX) return {};
  const auto* data = reinterpret_cast<const void*>(*address);
  const Device device = Device::cuda(static_cast<int>(*ordinal));
  // CuPy makes the tuple of strides anew for everyone who asks.
  const bool is_contiguous = member(object, names().is_contiguous).ptr() == Py_True;
  const auto strides = is_contiguous ? std::optional(Dims()) : exact_ints(member(object, names().strides));
  if (!strides) return {};
  const auto view = is_contiguous ? ConstView::contiguous(data, type.dtype, *shape, type.item_size, device)
                                  : ConstView::strided(data, type.dtype, *shape, *strides, type.item_size, device);
  return view.ok() ? std::optional(*view) : std::nullopt;
}

std::shared_ptr<const DlpackArray> import_pointer(nb::handle object, const char* argument, CallContext& call) {
  const nb::object dtype = member(object, names().dtype);
  if (!dtype.is_valid() || !PyArray_DescrCheck(dtype.ptr())) return nullptr;
  const std::optional<DType> plain = plain_dtype(reinterpret_cast<PyArray_Descr*>(dtype.ptr()));
  if (!plain) return nullptr;
  const ElementType type{*plain, item_size(*plain)};
  const std::optional<ConstView> view = view_of_pointer(object, type);
  if (!view) return nullptr;
  call.use_library_of(object, argument, view->device.ordinal);
  auto array = std::make_shared<DlpackArray>();
  array->numpy_dtype = dtype;
  array->type = type;
  array->view = *view;
  array->is_versioned = true;  // it is known that others may write
  array->owner = kept(object);
  return array;
}

}  // namespace

// Not a static that is made when it is needed: threads would wait for Python with C++'s own lock held.
void learn_names() { made_names = new Names(); }

nb::object new_known_tensor(nb::handle like, const ConstView& view_of_like, const Shape& shape, View& view) {
  const KnownClass* known = known_class(like.type());
  if (known == nullptr || shape.elements() == 0 || known->empty_strided.is_none() || known->current_device.is_none())
    return {};
  if (nb::cast<int>(call(known->current_device)) != view_of_like.device.ordinal) return {};
  const Layout layout = contiguous_layout(shape, 1);  // in elements
  nb::object made = call_with(known->empty_strided,
                              nb::make_tuple(to_tuple(shape), to_tuple(layout.strides), attribute(like, "dtype")));
  dltensor tensor;
  if (known->api->view_of_object(made.ptr(), &tensor) != 0) throw nb::python_error();
  view = {static_cast<std::byte*>(tensor.data), view_of_like.dtype,
          contiguous_layout(shape, view_of_like.layout.item_size), view_of_like.device};
  return made;
}

std::shared_ptr<const DlpackArray> import_known_tensor(nb::handle object, const char* argument, CallContext* call) {
  if (call == nullptr) return nullptr;
  if (!may_be_tensor(object)) return has_pointer(object) ? import_pointer(object, argument, *call) : nullptr;
  const KnownClass* known = find_class(object);
  dltensor tensor;
  void* stream = nullptr;
  if (known == nullptr || known->api->view_of_object(object.ptr(), &tensor) != 0 ||
      tensor.device.device_type != nb::device::cuda::value || is_more_than_memory(object, tensor) ||
      known->api->current_stream(tensor.device.device_type, tensor.device.device_id, &stream) != 0) {
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
  call->use(known->library, number, argument, array->view.device.ordinal);
  return array;
}

SimilarTensors::SimilarTensors(nb::handle first, const InputArray& as_read)
    : numpy_dtype_(as_read.numpy_dtype), type_(as_read.type), device_(as_read.view.device) {
  const KnownClass* known = known_class(first.type());
  if (device_.is_cpu() || (known == nullptr && !has_pointer(first))) return;
  class_ = Py_TYPE(first.ptr());  // which lives as long as the process
  if (known != nullptr) api_ = known->api;
}

bool SimilarTensors::view(nb::handle object, const char* argument, ConstView& view) const {
  if (Py_TYPE(object.ptr()) != class_) return false;
  if (api_ == nullptr) {
    if (!member(object, names().dtype).is(numpy_dtype_)) return false;
    const std::optional<ConstView> found = view_of_pointer(object, type_);
    if (!found || found->device != device_) return false;
    view = *found;
    return true;
  }
  dltensor tensor;
  if (api_->view_of_object(object.ptr(), &tensor) != 0) {
    PyErr_Clear();  // the protocols say what is wrong
    return false;
  }
  const bool is_here =
      tensor.device.device_type == nb::device::cuda::value && tensor.device.device_id == device_.ordinal;
  if (!is_here || !known_dtype(tensor.dtype, argument).is(numpy_dtype_) || is_more_than_memory(object, tensor)) {
    return false;
  }
  view = view_of(tensor, type_, argument);
  return true;
}

}  // namespace backslice::python
