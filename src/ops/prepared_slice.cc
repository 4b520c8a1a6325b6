#include "backslice/prepared_slice.h"

#include "core/device.h"
#include "core/element_type.h"
#include "core/errors.h"
#include "core/items.h"
#include "ops/checks.h"
#include "ops/move.h"

namespace backslice {

struct PreparedSlice::Impl {
  // The fields for a small gradient come first, in one cache line: a call takes no longer than fetching them from
  // memory.
  DType dtype;
  bool has_plain_gradient;  // x and y are contiguous, and only their addresses are needed
  std::int64_t x_bytes, y_bytes;
  std::optional<FillNest> small_gradient;
  Schedule gradient, forward, addition;
  Selection selection;
  Layout x, y;
};

namespace {

Status check_layout(const Layout& layout, DType dtype, const char* argument, const Shape& expected,
                    const char* meaning) {
  // A fixed address: the checks that every view goes through read no memory.
  alignas(Allocator::kAlignment) static const std::byte somewhere{};
  const ConstView view{&somewhere, dtype, layout};
  BACKSLICE_RETURN_IF_ERROR(check_input(view, argument));
  return check_shape(view.shape(), argument, expected, meaning);
}

// Whether two layouts have the same element addresses: strides of axes with one element do not matter.
bool same_places(const Layout& a, const Layout& b) {
  if (a.shape != b.shape || a.item_size != b.item_size) return false;
  if (a.shape.elements() == 0) return true;
  for (int axis = 0; axis < a.shape.rank(); ++axis) {
    if (a.shape[axis] > 1 && a.strides[axis] != b.strides[axis]) return false;
  }
  return true;
}

Status check_prepared(const ConstView& view, const char* argument, DType dtype, const Layout& layout) {
  if (view.dtype != dtype) {
    return dtype_error(argument, " has dtype ", name(view.dtype), ", but the slice was prepared for ", name(dtype))
        .at(argument);
  }
  if (!same_places(view.layout, layout)) {
    return invalid_argument(argument, " has shape ", Ints(view.shape()), " and byte strides ",
                            Ints(view.layout.strides), ", but the slice was prepared for shape ", Ints(layout.shape),
                            " and byte strides ", Ints(layout.strides))
        .at(argument);
  }
  return check_input(view, argument, RunsOn::AnyDevice);
}

// Checks an output: on the input's device, and overlapping neither the input nor itself.
Status check_place(const View& out, const ConstView& input, const char* argument) {
  BACKSLICE_RETURN_IF_ERROR(check_same_device(out.device, "out", input.device, argument));
  BACKSLICE_RETURN_IF_ERROR(check_distinct(out, "out"));
  return check_apart(out, "out", input, argument);
}

// Whether the memory passes every check of check_prepared().
bool is_usable(const void* data, DType dtype) {
  const auto alignment = are_bytes(dtype) ? 1 : static_cast<std::uintptr_t>(operations_of(dtype).alignment);
  return data != nullptr && reinterpret_cast<std::uintptr_t>(data) % alignment == 0;
}

std::int64_t bytes_of(const Layout& layout) { return layout.shape.elements() * layout.item_size; }

bool are_apart(const void* a, std::int64_t a_bytes, const void* b, std::int64_t b_bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(a), second = reinterpret_cast<std::uintptr_t>(b);
  return first < second ? second - first >= static_cast<std::uintptr_t>(a_bytes)
                        : first - second >= static_cast<std::uintptr_t>(b_bytes);
}

void run_prepared(decltype(run_fill) kernel, const Schedule& schedule, const ConstView& src, const View& dst,
                  const Context& context) {
  const Call call(context, src.device);
  call.writing([&] { kernel(schedule, src.dtype, dst.data, src.data, call); });
}

}  // namespace

Result<PreparedSlice> PreparedSlice::make(const Selection& selection, DType dtype, std::int64_t item_size) {
  auto x = make_contiguous_layout(dtype, selection.shape(), item_size);
  auto y = make_contiguous_layout(dtype, selection.result_shape(), item_size);
  if (!x.ok()) return std::move(x).status();
  if (!y.ok()) return std::move(y).status();
  return make(selection, dtype, *x, *y);
}

Result<PreparedSlice> PreparedSlice::make(const Selection& selection, DType dtype, const Layout& x, const Layout& y) {
  return without_throwing([&]() -> Result<PreparedSlice> {
    BACKSLICE_RETURN_IF_ERROR(check_element_type(dtype, "dtype"));
    BACKSLICE_RETURN_IF_ERROR(check_layout(x, dtype, "x", selection.shape(), "the shape the selection is for"));
    BACKSLICE_RETURN_IF_ERROR(check_layout(y, dtype, "y", selection.result_shape(), "the shape of the slice"));
    if (x.item_size != y.item_size) {
      return dtype_error("x has items of ", x.item_size, " bytes, but y has items of ", y.item_size).at("y");
    }
    const bool is_plain =
        is_contiguous(x) && is_contiguous(y) && check_gradient_dtype(dtype, "dtype", selection, Write::Overwrite).ok();
    auto impl = std::make_shared<Impl>(
        Impl{dtype, is_plain, bytes_of(x), bytes_of(y), std::nullopt,
             schedule_gradient(selection, x, y, Write::Overwrite, dtype), schedule_slice(selection, y, x, dtype),
             schedule_gradient(selection, x, y, Write::Accumulate, dtype), selection, x, y});
    if (is_plain && are_bytes(dtype)) impl->small_gradient = small_fill(impl->gradient.plan);
    return PreparedSlice(std::move(impl));
  });
}

Status PreparedSlice::forward(const ConstView& x, const View& out, const Context& context) const {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check_prepared(x, "x", impl_->dtype, impl_->x));
    BACKSLICE_RETURN_IF_ERROR(check_prepared(out, "out", impl_->dtype, impl_->y));
    BACKSLICE_RETURN_IF_ERROR(check_place(out, x, "x"));
    run_prepared(run_fill, impl_->forward, x, out, context);
    return Status();
  });
}

Status PreparedSlice::gradient(const ConstView& dy, const View& out, const Context& context) const {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check_prepared(dy, "dy", impl_->dtype, impl_->y));
    BACKSLICE_RETURN_IF_ERROR(check_prepared(out, "out", impl_->dtype, impl_->x));
    BACKSLICE_RETURN_IF_ERROR(check_gradient_dtype(dy.dtype, "dy", impl_->selection, Write::Overwrite));
    BACKSLICE_RETURN_IF_ERROR(check_place(out, dy, "dy"));
    run_prepared(run_fill, impl_->gradient, dy, out, context);
    return Status();
  });
}

Status PreparedSlice::gradient(const void* dy, void* out, const Context& context) const {
  const Impl& slice = *impl_;
  const auto* from = static_cast<const std::byte*>(dy);
  auto* to = static_cast<std::byte*>(out);
  if (!slice.has_plain_gradient || !is_usable(dy, slice.dtype) || !is_usable(out, slice.dtype) ||
      !are_apart(dy, slice.y_bytes, out, slice.x_bytes)) {  // then the checks of the views find the error, or none
    return gradient(ConstView{from, slice.dtype, slice.y}, View{to, slice.dtype, slice.x}, context);
  }
  const RowKernels* rows = slice.small_gradient && context.allocator == nullptr ? ready_rows() : nullptr;
  if (rows != nullptr) {
    slice.small_gradient->run(to, from, *rows);
    return Status();
  }
  return without_throwing([&] {
    const Call call(context);
    if (slice.small_gradient) {
      slice.small_gradient->run(to, from, call.rows);
    } else {
      call.writing([&] { run_fill(slice.gradient, slice.dtype, to, from, call); });
    }
    return Status();
  });
}

Status PreparedSlice::accumulate(const ConstView& dy, const View& out, const Context& context) const {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check_prepared(dy, "dy", impl_->dtype, impl_->y));
    BACKSLICE_RETURN_IF_ERROR(check_prepared(out, "out", impl_->dtype, impl_->x));
    BACKSLICE_RETURN_IF_ERROR(check_gradient_dtype(dy.dtype, "dy", impl_->selection, Write::Accumulate));
    BACKSLICE_RETURN_IF_ERROR(check_place(out, dy, "dy"));
    run_prepared(run_add, impl_->addition, dy, out, context);
    return Status();
  });
}

const Selection& PreparedSlice::selection() const& { return impl_->selection; }
DType PreparedSlice::dtype() const { return impl_->dtype; }
const Layout& PreparedSlice::x() const& { return impl_->x; }
const Layout& PreparedSlice::y() const& { return impl_->y; }

}  // namespace backslice
