#include "backslice/view.h"

#include <limits>

#include "core/checked_math.h"
#include "core/device.h"
#include "core/element_type.h"
#include "core/errors.h"

namespace backslice {
namespace {

// The bytes between the first byte of the lowest element and the last byte of the highest.
std::optional<std::int64_t> span_in_bytes(const Shape& shape, Ints strides, std::int64_t item_size) {
  if (shape.elements() == 0) return 0;
  std::int64_t span = item_size;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t stride = strides[static_cast<std::size_t>(axis)];
    if (stride == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
    const auto reach = checked_multiply(shape[axis] - 1, std::abs(stride));
    const auto sum = reach ? checked_add(span, *reach) : std::nullopt;
    if (!sum) return std::nullopt;
    span = *sum;
  }
  return span;
}

Status check_count(const char* argument, Ints strides, const Shape& shape) {
  if (strides.size() == shape.size()) return Status();
  return invalid_argument(argument, " ", strides, " has ", counted(strides.size(), "entry", "entries"), ", shape ",
                          Ints(shape), " has ", shape.size())
      .at(argument);
}

Status too_wide(const char* argument, Ints strides, const Shape& shape) {
  return invalid_argument(argument, " ", strides, " of shape ", Ints(shape), " span more than 2**63 - 1 bytes")
      .at(argument);
}

}  // namespace

void detail::make_contiguous(Layout& layout, std::int64_t item_size) {
  const Shape& shape = layout.shape;
  layout.strides = Dims(shape);
  layout.item_size = item_size;
  std::int64_t stride = item_size;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    layout.strides[axis] = stride;
    // Empty tensors may have extents whose product overflows; their strides do not matter.
    if (shape.elements() != 0) stride *= shape[axis];
  }
}

Layout contiguous_layout(const Shape& shape, std::int64_t item_size) {
  Layout layout;  // not value-initialised, which would zero the whole array
  layout.shape = shape;
  detail::make_contiguous(layout, item_size);
  return layout;
}

Result<std::int64_t> size_in_bytes(const Shape& shape, std::int64_t item_size) {
  return without_throwing([&]() -> Result<std::int64_t> {
    const auto bytes = checked_multiply(shape.elements(), item_size);
    if (!bytes) {
      return resource_exhausted("a tensor of shape ", shape, " and ", item_size,
                                " bytes per element has more than 2**63 - 1 bytes");
    }
    return *bytes;
  });
}

Result<Layout> make_contiguous_layout(DType dtype, Ints shape, std::int64_t item_size) {
  return without_throwing([&]() -> Result<Layout> {
    const auto resolved = resolved_item_size(dtype, item_size);
    if (!resolved.ok()) return resolved.status();
    const auto checked = Shape::make(shape);
    if (!checked.ok()) return checked.status();
    return detail::contiguous_layout_of(dtype, *checked, *resolved);
  });
}

Result<Layout> detail::contiguous_layout_of(DType dtype, const Shape& shape, std::int64_t item_size) {
  return without_throwing([&]() -> Result<Layout> {
    const auto resolved = resolved_item_size(dtype, item_size);
    if (!resolved.ok()) return resolved.status();
    const auto bytes = size_in_bytes(shape, *resolved);
    if (!bytes.ok()) return bytes.status();
    return contiguous_layout(shape, *resolved);
  });
}

Result<Layout> make_strided_layout(DType dtype, Ints shape, Ints byte_strides, std::int64_t item_size) {
  return without_throwing([&]() -> Result<Layout> {
    const auto resolved = resolved_item_size(dtype, item_size);
    if (!resolved.ok()) return resolved.status();
    const auto checked = Shape::make(shape);
    if (!checked.ok()) return checked.status();
    BACKSLICE_RETURN_IF_ERROR(check_count("byte_strides", byte_strides, *checked));
    // No elements, so the strides do not matter, however large.
    if (checked->elements() == 0) return contiguous_layout(*checked, *resolved);
    if (!span_in_bytes(*checked, byte_strides, *resolved)) return too_wide("byte_strides", byte_strides, *checked);
    return Layout{*checked, Dims(byte_strides), *resolved};
  });
}

Result<Layout> detail::layout_of_elements(DType dtype, Ints shape, Ints strides, std::size_t item_size) {
  return without_throwing([&]() -> Result<Layout> {
    const auto size = resolved_item_size(dtype, static_cast<std::int64_t>(item_size));
    if (!size.ok()) return size.status();
    const auto checked = Shape::make(shape);
    if (!checked.ok()) return checked.status();
    BACKSLICE_RETURN_IF_ERROR(check_count("strides", strides, *checked));
    if (checked->elements() == 0) return contiguous_layout(*checked, *size);
    Dims byte_strides;
    for (int axis = 0; axis < checked->rank(); ++axis) {
      const auto bytes = checked_multiply(strides[static_cast<std::size_t>(axis)], *size);
      if (!bytes) return too_wide("strides", strides, *checked);
      byte_strides.push_back(*bytes);
    }
    if (!span_in_bytes(*checked, byte_strides, *size)) return too_wide("strides", strides, *checked);
    return Layout{*checked, byte_strides, *size};
  });
}

Status detail::without_strides() {
  return without_throwing([] { return invalid_argument("span has no strides").at("span"); });
}

Result<Layout> detail::layout_of_memory(std::size_t count, DType dtype, Ints shape, std::size_t item_size) {
  return without_throwing([&]() -> Result<Layout> {
    auto layout = make_contiguous_layout(dtype, shape, static_cast<std::int64_t>(item_size));
    if (!layout.ok() || static_cast<std::size_t>(layout->shape.elements()) == count) return layout;
    return invalid_argument("the memory has ", counted(count, "element", "elements"), ", but shape ", shape, " has ",
                            layout->shape.elements(), "; both must be the same")
        .at("shape");
  });
}

Status detail::check_elements(const void* data, DType dtype, const Layout& layout, Device device, DType wanted,
                              std::size_t item_size, std::size_t alignment) {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check_on_cpu(device, "the memory"));
    if (!is_element_type(dtype)) {
      return dtype_error("elements<T>() needs elements of a known dtype, but theirs is ", static_cast<int>(dtype),
                         ", which is not an element type");
    }
    if (wanted != dtype) {
      return dtype_error("elements<T>() was called with a T of dtype ", name(wanted), ", but the elements are ",
                         name(dtype));
    }
    if (static_cast<std::int64_t>(item_size) != layout.item_size) {
      return dtype_error("elements<T>() was called with a T of ", item_size, " bytes, but the elements have ",
                         layout.item_size);
    }
    if (!is_contiguous(layout)) {
      return invalid_argument("elements<T>() needs elements that lie one after the other, but shape ", layout.shape,
                              " has byte strides ", layout.strides, "; copy the tensor first");
    }
    if (layout.shape.elements() > 0 && reinterpret_cast<std::uintptr_t>(data) % alignment != 0) {
      return invalid_argument("elements<T>() needs memory aligned to ", alignment, " bytes; copy the tensor first");
    }
    return Status();
  });
}

bool is_contiguous(const Layout& layout) {
  if (layout.shape.elements() == 0) return true;  // and the product of its other extents may overflow
  std::int64_t expected = layout.item_size;
  for (int axis = layout.shape.rank() - 1; axis >= 0; --axis) {
    if (layout.shape[axis] != 1 && layout.strides[axis] != expected) return false;
    expected *= layout.shape[axis];
  }
  return true;
}

bool is_valid(const Layout& layout, DType dtype) {
  if (layout.strides.size() != layout.shape.rank() || !is_element_type(dtype)) return false;
  if (dtype == DType::Bytes ? layout.item_size < 0 : layout.item_size != item_size(dtype)) return false;
  return span_in_bytes(layout.shape, layout.strides, layout.item_size).has_value();
}

}  // namespace backslice
