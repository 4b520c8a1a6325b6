// Views of C's, checked: where they lie, of what, and how.
#include "capi/arguments.h"

namespace backslice::capi {
namespace {

void check_device(const backslice_view& view, Argument argument) {
  if (view.device_type == BACKSLICE_CPU && view.device_id == 0) return;
  refuse(unimplemented(text(argument), " lies on device ", view.device_type, ":", view.device_id,
                       " (DLPack's numbers); this version works on the CPU, 1:0, alone"));
}

// Errors of C++ about a layout do not know whose it is.
[[noreturn]] void refuse_layout(const Status& status, Argument argument) {
  Status named(status.code(), join(text(argument), ": ", status.message()));
  refuse(status.is_about_dtype() ? std::move(named).about_dtype() : std::move(named));
}

Ints extents_of(const backslice_view& view, Argument argument) {
  if (view.rank < 0 || view.rank > BACKSLICE_MAX_RANK) {
    refuse(invalid_argument(text(argument), ".rank is ", view.rank, ", expected 0 to ", BACKSLICE_MAX_RANK));
  }
  if (view.rank > 0 && view.shape == nullptr) {
    refuse(invalid_argument(text(argument), ".shape is NULL, but the rank is ", view.rank));
  }
  return {view.shape, static_cast<std::size_t>(view.rank)};
}

}  // namespace

View layout_of(const backslice_view* view, Argument argument) {
  const backslice_view& given = checked_struct(view, argument);
  const DType dtype = dtype_of(given.dtype, argument);
  check_device(given, argument);
  const Ints extents = extents_of(given, argument);
  auto made = given.strides == nullptr
                  ? View::contiguous(given.data, dtype, extents, given.item_size)
                  : View::strided(given.data, dtype, extents, {given.strides, extents.size()}, given.item_size);
  if (!made.ok()) refuse_layout(made.status(), argument);
  return *std::move(made);
}

View view_of(const backslice_view* view, Argument argument) {
  View made = layout_of(view, argument);
  if (made.data == nullptr && made.elements() > 0) {
    refuse(invalid_argument(text(argument), ".data is NULL, but the shape ", Ints(made.shape()), " has elements"));
  }
  return made;
}

std::vector<View> views_of(const backslice_view* views, std::int64_t count, const char* argument,
                           const char* count_argument, std::int64_t most) {
  std::vector<View> made;
  made.reserve(items(views, count, argument, count_argument, most).size());
  for (std::int64_t i = 0; i < count; ++i) made.push_back(view_of(views + i, {argument, i}));
  return made;
}

Tensor borrowed(const View& view) { return Tensor::of(Buffer::wrap(nullptr, view.data), view); }

std::vector<Tensor> borrowed(const std::vector<View>& views) {
  std::vector<Tensor> tensors;
  tensors.reserve(views.size());
  for (const View& view : views) tensors.push_back(borrowed(view));
  return tensors;
}

Status set_view(backslice_view& view, const Tensor& tensor) {
  view.data = const_cast<std::byte*>(tensor.data());
  view.dtype = static_cast<std::int32_t>(tensor.dtype());
  view.rank = tensor.shape().rank();
  view.shape = tensor.shape().begin();
  view.strides = nullptr;
  view.item_size = tensor.dtype() == DType::Bytes ? tensor.view().layout.item_size : 0;
  view.device_type = BACKSLICE_CPU;
  view.device_id = 0;
  return Status();
}

}  // namespace backslice::capi
