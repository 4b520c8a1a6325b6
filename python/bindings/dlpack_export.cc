// Exports arrays as DLPack capsules, including the dtypes of ml_dtypes, which NumPy does not export.
#include "bindings/dlpack_export.h"

#include <nanobind/nanobind.h>

#include <vector>

#include "bindings/arguments.h"
#include "bindings/arrays.h"
#include "bindings/errors.h"
#include "bindings/gil.h"
#include "bindings/module.h"
#include "bindings/objects.h"

namespace backslice::python {
namespace {

using dlpack::Managed;
using dlpack::VersionedManaged;

// A container and its data. It keeps the array alive and keeps NumPy from resizing it.
template <class AnyManaged>
struct Export {
  AnyManaged managed{};
  std::vector<std::int64_t> shape, strides;
  ExportOwner owner;
};

// Called by the consumer, from any thread.
template <class AnyManaged>
void release(AnyManaged* managed) {
  release_with_gil([](void* exported) { delete static_cast<Export<AnyManaged>*>(exported); }, managed->context);
}

// A capsule that was not consumed still owns the container.
template <class AnyManaged>
void destroy_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, AnyManaged::kName) == 0) return;
  auto* managed = static_cast<AnyManaged*>(PyCapsule_GetPointer(capsule, AnyManaged::kName));
  managed->deleter(managed);
}

nb::dlpack::dtype type_of(nb::handle dtype, const ElementType& type) {
  if (const auto found = dlpack_dtype(type.dtype)) return *found;
  raise_dtype_error("a has dtype " + str_text(dtype) +
                    ", which DLPack has no code for; convert it first, for example with a.astype(\"float32\"), or "
                    "a.view(\"int8\") where one byte holds an element");
}

std::vector<std::int64_t> strides_in_elements(const Layout& layout) {
  std::vector<std::int64_t> strides;
  for (int axis = 0; axis < layout.shape.rank(); ++axis) {
    const std::int64_t stride = layout.strides[axis];
    if (layout.shape.elements() > 0 && layout.shape[axis] > 1 && stride % layout.item_size != 0) {
      raise_invalid_argument("a has a stride of " + std::to_string(stride) + " bytes on axis " + std::to_string(axis) +
                             ", which is no whole number of elements, as DLPack needs it; export a.copy()");
    }
    strides.push_back(stride / layout.item_size);
  }
  return strides;
}

template <class AnyManaged>
nb::object capsule_of(std::unique_ptr<Export<AnyManaged>> exported) {
  exported->managed.context = exported.get();
  exported->managed.deleter = release<AnyManaged>;
  nb::object capsule =
      checked([&] { return PyCapsule_New(&exported->managed, AnyManaged::kName, destroy_capsule<AnyManaged>); });
  (void)exported.release();  // the capsule owns it
  return capsule;
}

template <class AnyManaged>
std::unique_ptr<Export<AnyManaged>> exported(const View& view, nb::dlpack::dtype code, ExportOwner owner) {
  auto made = std::make_unique<Export<AnyManaged>>();
  made->shape.assign(view.shape().begin(), view.shape().end());
  made->strides = strides_in_elements(view.layout);
  made->owner = std::move(owner);
  auto& tensor = made->managed.tensor;
  tensor.data = view.data;
  tensor.device = {view.device.is_cpu() ? nb::device::cpu::value : nb::device::cuda::value, view.device.ordinal};
  tensor.ndim = view.shape().rank();
  tensor.dtype = code;
  tensor.shape = made->shape.data();
  tensor.strides = made->strides.data();
  return made;
}

nb::object py_dlpack_capsule(nb::handle array, nb::handle versioned, nb::handle is_copy) {
  if (!PyArray_Check(array.ptr())) raise_dtype_error("a is of type " + type_text(array) + ", expected a NumPy array");
  if (is_masked_array(array))
    raise_dtype_error("a is a masked array, whose mask would be lost; export a.filled(value)");
  std::uint64_t flags = 0;
  if (!PyArray_ISWRITEABLE(as_array(array))) flags |= dlpack::kReadOnly;
  if (read_flag(is_copy, "is_copy")) flags |= dlpack::kIsCopy;
  const bool is_versioned = read_flag(versioned, "versioned");
  const nb::object dtype = nb::borrow(reinterpret_cast<PyObject*>(PyArray_DESCR(as_array(array))));
  const ElementType type = element_type(dtype, "a");
  return export_dlpack(view_of_numpy(as_array(array), type), dtype, type,
                       {nb::borrow(array), keep_from_resizing(array), {}}, is_versioned, flags);
}

}  // namespace

nb::object export_dlpack(const View& view, nb::handle numpy_dtype, const ElementType& type, ExportOwner owner,
                         bool versioned, std::uint64_t flags) {
  const nb::dlpack::dtype code = type_of(numpy_dtype, type);
  if (!versioned) return capsule_of(exported<Managed>(view, code, std::move(owner)));
  auto made = exported<VersionedManaged>(view, code, std::move(owner));
  made->managed.major = 1;
  made->managed.flags = flags;
  return capsule_of(std::move(made));
}

void bind_dlpack_export(nb::module_& m) { m.def("_dlpack_capsule", py_dlpack_capsule); }

}  // namespace backslice::python
