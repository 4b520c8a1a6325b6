#include "backslice/prepared_slice.h"

#include "core/errors.h"
#include "core/items.h"
#include "kernels/slice/kernel.h"
#include "ops/call.h"
#include "ops/checks.h"

namespace backslice {

struct PreparedSlice::Impl {
  Selection selection;
  DType dtype;
  Layout x, y;
  Schedule forward, gradient, addition;
  bool has_plain_gradient;  // x and y are contiguous, and the gradient depends on nothing but where they lie
};

namespace {

Status check_layout(const Layout& layout, DType dtype, const char* argument, const Shape& expected,
                    const char* meaning) {
  // Memory is not looked at: any address will do for the checks that every view goes through.
  alignas(Allocator::kAlignment) static const std::byte somewhere{};
  const ConstView view{&somewhere, dtype, layout};
  BACKSLICE_RETURN_IF_ERROR(check_input(view, argument));
  return check_shape(view, argument, expected, meaning);
}

// Whether elements lie in the same places: the strides of axes with one element do not matter.
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
    return dtype_error(argument, " has dtype ", name(view.dtype), ", but the slice was prepared for ", name(dtype));
  }
  if (!same_places(view.layout, layout)) {
    return invalid_argument(argument, " has shape ", Ints(view.shape()), " and byte strides ",
                            Ints(view.layout.strides), ", but the slice was prepared for shape ", Ints(layout.shape),
                            " and byte strides ", Ints(layout.strides));
  }
  return check_input(view, argument);
}

// Whether the memory passes every check of check_prepared().
bool is_usable(const void* data, DType dtype) {
  const auto alignment = are_bytes(dtype) ? 1 : static_cast<std::uintptr_t>(operations_of(dtype).alignment);
  return data != nullptr && reinterpret_cast<std::uintptr_t>(data) % alignment == 0;
}

bool are_apart(const void* a, const Layout& in_a, const void* b, const Layout& in_b) {
  const auto first = reinterpret_cast<std::uintptr_t>(a), second = reinterpret_cast<std::uintptr_t>(b);
  const auto bytes = [](const Layout& layout) {
    return static_cast<std::uintptr_t>(layout.shape.elements() * layout.item_size);
  };
  return first < second ? second - first >= bytes(in_a) : first - second >= bytes(in_b);
}

void run(decltype(fill) kernel, const Schedule& schedule, const ConstView& src, const View& dst,
         const Context& context) {
  kernel(schedule.plan, src.dtype, dst.data, src.data, Call(context).kernel(schedule));
}

}  // namespace

Result<PreparedSlice> PreparedSlice::make(const Selection& selection, DType dtype, std::int64_t item_size) {
  return without_throwing([&]() -> Result<PreparedSlice> {
    const auto x = make_contiguous_layout(dtype, selection.shape(), item_size);
    const auto y = make_contiguous_layout(dtype, selection.result_shape(), item_size);
    if (!x.ok()) return x.status();
    if (!y.ok()) return y.status();
    return make(selection, dtype, *x, *y);
  });
}

Result<PreparedSlice> PreparedSlice::make(const Selection& selection, DType dtype, const Layout& x, const Layout& y) {
  return without_throwing([&]() -> Result<PreparedSlice> {
    BACKSLICE_RETURN_IF_ERROR(check_layout(x, dtype, "x", selection.shape(), "the shape the selection is for"));
    BACKSLICE_RETURN_IF_ERROR(check_layout(y, dtype, "y", selection.result_shape(), "the shape of the slice"));
    if (x.item_size != y.item_size) {
      return dtype_error("x has items of ", x.item_size, " bytes, but y has items of ", y.item_size);
    }
    const bool is_plain =
        is_contiguous(x) && is_contiguous(y) && check_gradient_dtype(dtype, selection, Write::Overwrite).ok();
    auto impl = std::make_shared<Impl>(Impl{selection, dtype, x, y, schedule_slice(selection, y, x, dtype),
                                            schedule_gradient(selection, x, y, Write::Overwrite, dtype),
                                            schedule_gradient(selection, x, y, Write::Accumulate, dtype), is_plain});
    return PreparedSlice(std::move(impl));
  });
}

Status PreparedSlice::forward(const ConstView& x, const View& out, const Context& context) const {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check_prepared(x, "x", impl_->dtype, impl_->x));
    BACKSLICE_RETURN_IF_ERROR(check_prepared(out, "out", impl_->dtype, impl_->y));
    BACKSLICE_RETURN_IF_ERROR(check_distinct(out, "out"));
    BACKSLICE_RETURN_IF_ERROR(check_apart(out, "out", x, "x"));
    run(fill, impl_->forward, x, out, context);
    return Status();
  });
}

Status PreparedSlice::gradient(const ConstView& dy, const View& out, const Context& context) const {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check_prepared(dy, "dy", impl_->dtype, impl_->y));
    BACKSLICE_RETURN_IF_ERROR(check_prepared(out, "out", impl_->dtype, impl_->x));
    BACKSLICE_RETURN_IF_ERROR(check_gradient_dtype(dy.dtype, impl_->selection, Write::Overwrite));
    BACKSLICE_RETURN_IF_ERROR(check_distinct(out, "out"));
    BACKSLICE_RETURN_IF_ERROR(check_apart(out, "out", dy, "dy"));
    run(fill, impl_->gradient, dy, out, context);
    return Status();
  });
}

Status PreparedSlice::gradient(const void* dy, void* out, const Context& context) const {
  const Impl& slice = *impl_;
  const auto* from = static_cast<const std::byte*>(dy);
  auto* to = static_cast<std::byte*>(out);
  if (!slice.has_plain_gradient || !is_usable(dy, slice.dtype) || !is_usable(out, slice.dtype) ||
      !are_apart(dy, slice.y, out, slice.x)) {  // then the views tell what is wrong, or that nothing is
    return gradient(ConstView{from, slice.dtype, slice.y}, View{to, slice.dtype, slice.x}, context);
  }
  return without_throwing([&] {
    fill(slice.gradient.plan, slice.dtype, to, from, Call(context).kernel(slice.gradient));
    return Status();
  });
}

Status PreparedSlice::accumulate(const ConstView& dy, const View& out, const Context& context) const {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check_prepared(dy, "dy", impl_->dtype, impl_->y));
    BACKSLICE_RETURN_IF_ERROR(check_prepared(out, "out", impl_->dtype, impl_->x));
    BACKSLICE_RETURN_IF_ERROR(check_gradient_dtype(dy.dtype, impl_->selection, Write::Accumulate));
    BACKSLICE_RETURN_IF_ERROR(check_distinct(out, "out"));
    BACKSLICE_RETURN_IF_ERROR(check_apart(out, "out", dy, "dy"));
    run(add, impl_->addition, dy, out, context);
    return Status();
  });
}

const Selection& PreparedSlice::selection() const { return impl_->selection; }
DType PreparedSlice::dtype() const { return impl_->dtype; }
const Layout& PreparedSlice::x() const { return impl_->x; }
const Layout& PreparedSlice::y() const { return impl_->y; }

}  // namespace backslice
