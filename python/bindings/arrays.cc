#include "bindings/arrays.h"

#include "bindings/errors.h"
#include "bindings/gil.h"
#include "bindings/objects.h"

namespace backslice::python {
View view_of_numpy(PyArrayObject* array, const ElementType& type) {
  static_assert(std::is_same_v<npy_intp, std::int64_t>);
  const auto rank = static_cast<std::size_t>(PyArray_NDIM(array));
  return unwrap(View::strided(PyArray_DATA(array), type.dtype, Ints(PyArray_DIMS(array), rank),
                              Ints(PyArray_STRIDES(array), rank), type.item_size));
}

bool same_dtype(nb::handle a, nb::handle b) {
  return PyArray_EquivTypes(reinterpret_cast<PyArray_Descr*>(a.ptr()), reinterpret_cast<PyArray_Descr*>(b.ptr())) != 0;
}

namespace {

// Returns the array that this one is a view of, or null.
PyObject* viewed_array(PyObject* array) {
  PyObject* base = PyArray_BASE(as_array(array));
  return base != nullptr && PyArray_Check(base) ? base : nullptr;
}

}  // namespace

bool is_view(nb::handle array) { return viewed_array(array.ptr()) != nullptr; }

// NumPy refuses to resize an array with weak references. For a view, that is the array that owns the memory.
nb::object keep_from_resizing(nb::handle array) {
  PyObject* owner = array.ptr();
  while (PyObject* viewed = viewed_array(owner)) owner = viewed;
  return checked([&] { return PyWeakref_NewRef(owner, nullptr); });
}

nb::object keep_from_resizing(const InputArray& array) {
  return array.owner.is_valid() ? keep_from_resizing(array.owner) : nb::object();
}

namespace {

// Allocates memory if `data` is null, and is C-contiguous if `strides` is null.
nb::object new_array(const Shape& shape, nb::handle numpy_dtype, void* data, const std::int64_t* strides = nullptr) {
  PyObject* array =
      PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(numpy_dtype.inc_ref().ptr()), shape.rank(),
                           shape.begin(), strides, data, data == nullptr ? 0 : NPY_ARRAY_CARRAY, nullptr);
  if (array == nullptr) {
    const nb::python_error error;
    if (!error.matches(PyExc_MemoryError)) pass_on_unless_ordinary(error);
    raise(Status(StatusCode::ResourceExhausted, "NumPy cannot make an array of shape " + to_string(Ints(shape))));
  }
  return nb::steal(array);
}

}  // namespace

bool is_small(const Shape& result_shape, const InputArray& input) {
  constexpr std::int64_t kSmall = 32 << 10;
  return input.type.item_size > 0 && result_shape.elements() > 0 &&
         result_shape.elements() <= kSmall / input.type.item_size;
}

nb::object new_small_array(const Shape& shape, const InputArray& input, View& view) {
  nb::object array = new_array(shape, input.numpy_dtype, nullptr);
  auto* data = static_cast<std::byte*>(PyArray_DATA(as_array(array)));
  view = {data, input.type.dtype, contiguous_layout(shape, input.type.item_size)};
  return array;
}

Tensor copied_tensor(const InputArray& input, const Context& context) {
  return unwrap(without_gil([&] { return slice(Selection::all(input.view.shape()), input.view, context); }));
}

nb::object to_numpy(const Tensor& tensor, nb::handle numpy_dtype, ArrayOwner owner) {
  const ConstView& view = tensor.view();
  *owner = tensor.buffer();
  const nb::capsule base(owner.get(), [](void* p) noexcept { delete static_cast<Buffer*>(p); });
  (void)owner.release();  // the capsule owns it
  nb::object array =
      new_array(view.shape(), numpy_dtype, const_cast<std::byte*>(view.data), view.layout.strides.begin());
  if (PyArray_SetBaseObject(as_array(array), base.inc_ref().ptr()) < 0) nb::raise_python_error();
  return array;
}

nb::object to_read_only_numpy(const Tensor& tensor, nb::handle numpy_dtype, ArrayOwner owner) {
  nb::object array = to_numpy(tensor, numpy_dtype, std::move(owner));
  PyArray_CLEARFLAGS(as_array(array), NPY_ARRAY_WRITEABLE);
  return array;
}

}  // namespace backslice::python
