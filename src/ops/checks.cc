#include "ops/checks.h"

#include <cstring>

#include "core/device.h"
#include "core/element_type.h"
#include "core/errors.h"
#include "core/items.h"
#include "core/overlap.h"
#include "kernels/cuda/memory.h"

namespace backslice {
namespace {

// A template, so that a View is not copied into a ConstView.

template <class AnyView>
bool is_aligned(const AnyView& view, std::int64_t alignment) {
  if (reinterpret_cast<std::uintptr_t>(view.data) % static_cast<std::uintptr_t>(alignment) != 0) return false;
  for (int i = 0; i < view.shape().rank(); ++i) {
    if (view.shape()[i] > 1 && view.layout.strides[i] % alignment != 0) return false;
  }
  return true;
}

template <class AnyView>
Status check_readable(const AnyView& view, const char* argument, RunsOn runs_on, cuda::KnownPages* known = nullptr) {
  BACKSLICE_RETURN_IF_ERROR(check_element_type(view.dtype, argument, ".dtype"));
  if (runs_on == RunsOn::Cpu || !are_bytes(view.dtype)) BACKSLICE_RETURN_IF_ERROR(check_on_cpu(view.device, argument));
  if (!is_valid(view.layout, view.dtype)) {
    return invalid_argument(argument, " has an inconsistent layout: shape ", Ints(view.shape()), ", byte strides ",
                            Ints(view.layout.strides), ", ", view.layout.item_size, " bytes per element of dtype ",
                            name(view.dtype))
        .at(argument);
  }
  if (view.elements() == 0) return Status();
  if (view.data == nullptr) {
    return invalid_argument(argument, " has shape ", Ints(view.shape()), " but its data is null").at(argument);
  }
  if (!view.device.is_cpu()) {
    if (known != nullptr && known->has(view.data)) return Status();
    BACKSLICE_RETURN_IF_ERROR(cuda::check_memory(view.data, view.device, argument));
    if (known != nullptr) known->add(view.data);
    return Status();
  }
  if (are_bytes(view.dtype)) return Status();
  const std::int64_t alignment = operations_of(view.dtype).alignment;
  if (is_aligned(view, alignment)) return Status();
  return invalid_argument(argument, ": elements of dtype ", name(view.dtype), " must be aligned to ", alignment,
                          " bytes")
      .at(argument);
}

}  // namespace

Status check_input(const ConstView& view, const char* argument, RunsOn runs_on) {
  return check_readable(view, argument, runs_on);
}

Status check_input(const ConstView& view, const char* argument, cuda::KnownPages& known) {
  return check_readable(view, argument, RunsOn::AnyDevice, &known);
}

Status check_shape(const Shape& shape, const char* argument, const Shape& expected, const char* meaning) {
  if (shape == expected) return Status();
  const std::string mismatch =
      join("shape of ", argument, " was ", Ints(shape), " instead of ", Ints(expected), ", ", meaning);
  if (shape.rank() != expected.rank()) {
    return invalid_argument(mismatch, ": rank ", shape.rank(), ", expected ", expected.rank()).at(argument);
  }
  int axis = 0;
  while (shape[axis] == expected[axis]) ++axis;
  return invalid_argument(mismatch, ": axis ", axis, " has ", shape[axis], ", expected ", expected[axis])
      .at(argument, std::strchr(argument, '[') == nullptr ? std::optional<std::int64_t>(axis) : std::nullopt);
}

Status check_distinct(const View& out, const char* argument) {
  if (!overlaps_itself(out.layout)) return Status();
  return invalid_argument(argument, " overlaps itself: shape ", Ints(out.shape()), " with byte strides ",
                          Ints(out.layout.strides))
      .at(argument);
}

Status check_apart(const View& out, const char* argument, const ConstView& other, const char* other_argument) {
  if (!overlap(out.data, out.layout, other.data, other.layout)) return Status();
  return invalid_argument(argument, " shares memory with ", other_argument).at(argument);
}

Status check_output(const View& out, const char* argument, const Shape& expected, DType dtype, std::int64_t item_size,
                    const char* owner, RunsOn runs_on) {
  BACKSLICE_RETURN_IF_ERROR(check_element_type(out.dtype, argument, ".dtype"));
  if (out.dtype != dtype) {
    return dtype_error(argument, " has dtype ", name(out.dtype), ", expected ", name(dtype), ", that of ", owner)
        .at(argument);
  }
  if (out.layout.item_size != item_size) {
    return dtype_error(argument, " has items of ", out.layout.item_size, " bytes, expected ", item_size, ", as in ",
                       owner)
        .at(argument);
  }
  BACKSLICE_RETURN_IF_ERROR(check_readable(out, argument, runs_on));
  BACKSLICE_RETURN_IF_ERROR(check_shape(out.shape(), argument, expected, "the shape of the result"));
  return check_distinct(out, argument);
}

Status check_output(const View& out, const Shape& expected, const ConstView& input, const char* input_argument) {
  BACKSLICE_RETURN_IF_ERROR(check_same_device(out.device, "out", input.device, input_argument));
  BACKSLICE_RETURN_IF_ERROR(
      check_output(out, "out", expected, input.dtype, input.layout.item_size, input_argument, RunsOn::AnyDevice));
  return check_apart(out, "out", input, input_argument);
}

Status check_gradient_dtype(DType dtype, const char* argument, const Selection& selection, Write write) {
  if (write == Write::Accumulate) return check_can_accumulate(dtype, argument);
  if (has_zero(dtype) || selection.covers_input()) return Status();
  return dtype_error(name(dtype), " has no zero, and the gradient is zero in the ",
                     selection.shape().elements() - selection.result_shape().elements(),
                     " elements that the slice does not select")
      .at(argument);
}

Status check_can_accumulate(DType dtype, const char* argument) {
  if (can_add(dtype)) return Status();
  return dtype_error(argument, ": elements of dtype ", name(dtype), " cannot be added").at(argument);
}

}  // namespace backslice
