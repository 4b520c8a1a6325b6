#include "bindings/output_argument.h"

#include "bindings/errors.h"
#include "bindings/known_tensors.h"
#include "bindings/neighbours.h"
#include "bindings/objects.h"

namespace backslice::python {
namespace {

[[noreturn]] void refuse_output(nb::handle out, const std::string& why) {
  raise_dtype_error("out is a " + type_text(out) + ", expected a NumPy array" + why);
}

// Returns whether `out[...] = value` is possible.
bool takes_items(nb::handle object) {
  const auto* mapping = Py_TYPE(object.ptr())->tp_as_mapping;
  return mapping != nullptr && mapping->mp_ass_subscript != nullptr;
}

// Exporters older than version 1 do not report whether memory may be written; assigning to their arrays shows it.
void check_writable(nb::handle out, const DlpackArray& array) {
  const bool is_writable = array.is_versioned ? !array.is_read_only : takes_items(out);
  if (!is_writable) raise_invalid_argument("out is a " + type_text(out) + " that is read-only");
  if (array.is_copy) {
    raise_invalid_argument("out is a " + type_text(out) + " that exports a copy of its memory, expected the memory");
  }
}

}  // namespace

void OutputArgument::resolve(CallContext* call) {
  if ((dlpack_ = import_known_tensor(out_, "out", call)) != nullptr) return;
  refuse_tracer(out_, "out");
  if (!exports_dlpack(out_)) {
    if (call != nullptr) dlpack_ = import_cuda_interface(out_, "out", *call);
    if (dlpack_ == nullptr) refuse_output(out_, ", or a writable array of another library with __dlpack__");
    return check_writable(out_, *dlpack_);
  }
  if (is_immutable(out_))
    refuse_output(out_, " or another writable one; those of " + library_of(out_) + " are immutable");
  if (is_lazy_tensor(out_)) {
    raise_invalid_argument("out is a " + type_text(out_) +
                           " whose memory holds the conjugates or the negatives of its elements; pass a tensor "
                           "that torch.empty makes");
  }
  std::string failure;
  const nb::object capsule = writable_dlpack_capsule(out_, "out", failure, call);
  if (!capsule.is_valid()) raise_invalid_argument("out: " + failure);
  dlpack_ = std::make_shared<const DlpackArray>(import_dlpack(capsule, "out", call));
  check_writable(out_, *dlpack_);
}

nb::object OutputArgument::numpy_dtype() const {
  if (is_none()) return {};
  if (dlpack_) return dlpack_->numpy_dtype;
  return nb::borrow(reinterpret_cast<PyObject*>(PyArray_DESCR(as_array(out_))));
}

View OutputArgument::view(nb::handle numpy_dtype, const ElementType& type, const char* owner) const {
  if (is_none()) refuse_output(out_, "");
  if (!dlpack_ && is_masked_array(out_)) {
    raise_dtype_error("out is a masked array, expected a plain NumPy array such as out.data");
  }
  if (const nb::object own = this->numpy_dtype(); !same_dtype(own, numpy_dtype)) {
    raise_dtype_error("out has dtype " + str_text(own) + ", expected " + str_text(numpy_dtype) + ", that of " + owner);
  }
  if (dlpack_) {
    const ConstView& given = dlpack_->view;
    return {const_cast<std::byte*>(given.data), given.dtype, given.layout, given.device};
  }
  if (!PyArray_ISWRITEABLE(as_array(out_))) raise_invalid_argument("out is read-only");
  return view_of_numpy(as_array(out_), type);
}

}  // namespace backslice::python
