// Views from C, checked: address, dtype, shape and strides.
#include "capi/structs.h"

namespace backslice::capi {
namespace {

// Adds the argument to C++ errors about a layout, which do not know it.
[[noreturn]] void refuse_layout(const Status& status, const Argument& argument) {
  Status named(status.code(), join(text(argument), ": ", status.message()));
  if (status.is_about_dtype()) named = std::move(named).about_dtype();
  refuse(std::move(named).at(text(argument)));
}

[[noreturn]] void refuse_extents(const backslice_view& view, const Argument& argument) {
  if (view.rank < 0 || view.rank > BACKSLICE_MAX_RANK) {
    refuse(invalid_argument(text(argument), ".rank is ", view.rank, ", expected 0 to ", BACKSLICE_MAX_RANK)
               .at(text(argument)));
  }
  refuse(invalid_argument(text(argument), ".shape is NULL, but the rank is ", view.rank).at(text(argument)));
}

Ints extents_of(const backslice_view& view, const Argument& argument) {
  const bool exist = view.rank >= 0 && view.rank <= BACKSLICE_MAX_RANK && (view.rank == 0 || view.shape != nullptr);
  if (!exist) refuse_extents(view, argument);
  return {view.shape, static_cast<std::size_t>(view.rank)};
}

void check_data(const void* data, const Shape& shape, const Argument& argument) {
  if (data != nullptr || shape.elements() == 0) return;
  refuse(invalid_argument(text(argument), ".data is NULL, but the shape ", Ints(shape), " has elements")
             .at(text(argument)));
}

// Whether only the shape is left to check, as in nearly all views: row-major without gaps, items whose size follows
// from their type, and few enough elements that their bytes fit int64_t.
bool is_plain(const backslice_view& view, DType dtype) {
  return view.strides == nullptr && view.item_size == 0 && dtype != DType::Bytes;
}
constexpr std::int64_t kMany = std::int64_t{1} << 56;

enum class Data { Needed, Unused };

// Returns a View or a ConstView. Makes the layout in place: copying a new layout costs as much as making it.
template <class Made>
Made made_of(const backslice_view* view, const Argument& argument, Data data = Data::Needed) {
  backslice_view filled;
  const backslice_view& given = given_struct(view, argument, filled);
  const DType dtype = dtype_from(given.dtype, argument, ".dtype");
  const Device device = device_from(given.device_type, given.device_id, argument);
  const Ints extents = extents_of(given, argument);
  Made made;  // not value-initialised, which would zero the whole array
  made.data = static_cast<decltype(Made::data)>(given.data);
  made.dtype = dtype;
  made.device = device;
  const Shape& shape = made.layout.shape;
  if (!detail::set_shape(made.layout.shape, extents)) refuse_layout(Shape::make(extents).status(), argument);
  if (data == Data::Needed) check_data(given.data, shape, argument);
  if (is_plain(given, dtype) && shape.elements() <= kMany) {
    detail::make_contiguous(made.layout, item_size(dtype));
  } else {
    if (given.item_size < 0) {
      refuse_layout(invalid_argument("item_size ", given.item_size, " must be >= 0"), argument);
    }
    const std::int64_t size = item_size_from(given.item_size);
    const Result<Layout> layout = given.strides == nullptr
                                      ? make_contiguous_layout(dtype, extents, size)
                                      : make_strided_layout(dtype, extents, {given.strides, extents.size()}, size);
    if (!layout.ok()) refuse_layout(layout.status(), argument);
    made.layout = *layout;
  }
  return made;
}

}  // namespace

View layout_of(const backslice_view* view, const Argument& argument) {
  return made_of<View>(view, argument, Data::Unused);
}

ConstView input_of(const backslice_view* view, const Argument& argument) { return made_of<ConstView>(view, argument); }

View view_of(const backslice_view* view, const Argument& argument) { return made_of<View>(view, argument); }

std::vector<View> views_of(const backslice_view* views, std::int64_t count, const char* argument,
                           const char* count_argument, std::int64_t most) {
  std::vector<View> made;
  made.reserve(items(views, count, argument, count_argument, most).size());
  for (std::int64_t i = 0; i < count; ++i) made.push_back(view_of(element(views, i), {argument, i}));
  return made;
}

Tensor borrowed(const View& view) { return Tensor::of(Buffer::wrap(nullptr, view.data, view.device), view); }

std::vector<Tensor> borrowed(const std::vector<View>& views) {
  std::vector<Tensor> tensors;
  tensors.reserve(views.size());
  for (const View& view : views) tensors.push_back(borrowed(view));
  return tensors;
}

void set_view(backslice_view& view, const Tensor& tensor) {
  view.data = const_cast<std::byte*>(tensor.data());
  view.dtype = static_cast<std::int32_t>(tensor.dtype());
  view.rank = tensor.shape().rank();
  view.shape = tensor.shape().begin();
  view.strides = nullptr;
  view.item_size = tensor.dtype() == DType::Bytes ? tensor.view().layout.item_size : 0;
  set_device(view.device_type, view.device_id, tensor.device());
}

}  // namespace backslice::capi
