#include "ops/checks.h"

#include <atomic>

#include "core/errors.h"
#include "core/overlap.h"
#include "execute/environment.h"
#include "kernels/cpu/rows.h"

namespace backslice {
namespace {

Status check_environment() {
  BACKSLICE_RETURN_IF_ERROR(check_num_threads_variable());
  return check_target_variable();
}

bool strings_are_aligned(const ConstView& view) {
  constexpr std::int64_t kAlign = alignof(std::string);
  if (reinterpret_cast<std::uintptr_t>(view.data) % kAlign != 0) return false;
  for (int i = 0; i < view.shape().rank(); ++i) {
    if (view.shape()[i] > 1 && view.layout.strides[i] % kAlign != 0) return false;
  }
  return true;
}

}  // namespace

Status check_input(const ConstView& view, const char* argument) {
  if (!is_valid(view.layout, view.dtype)) {
    return invalid_argument(argument, " has a layout that does not hold together: shape ", Ints(view.shape()),
                            ", byte strides ", Ints(view.layout.strides), ", ", view.layout.item_size,
                            " bytes per element of dtype ", name(view.dtype));
  }
  if (view.elements() == 0) return Status();
  if (view.data == nullptr) {
    return invalid_argument(argument, " has shape ", Ints(view.shape()), " but its data is null");
  }
  if (view.dtype == DType::String && !strings_are_aligned(view)) {
    return invalid_argument(argument, ": strings must be aligned to ", alignof(std::string), " bytes");
  }
  return Status();
}

Status check_shape(const ConstView& view, const char* argument, const Shape& expected, const char* meaning) {
  const Shape& shape = view.shape();
  if (shape == expected) return Status();
  const std::string mismatch =
      join("shape of ", argument, " was ", Ints(shape), " instead of ", Ints(expected), ", ", meaning);
  if (shape.rank() != expected.rank()) {
    return invalid_argument(mismatch, ": rank ", shape.rank(), ", expected ", expected.rank());
  }
  int axis = 0;
  while (shape[axis] == expected[axis]) ++axis;
  return invalid_argument(mismatch, ": axis ", axis, " has ", shape[axis], ", expected ", expected[axis]);
}

Status check_output(const View& out, const Shape& expected, const ConstView& input, const char* input_argument) {
  if (out.dtype != input.dtype) {
    return dtype_error("out has dtype ", name(out.dtype), ", expected ", name(input.dtype), ", that of ",
                       input_argument);
  }
  if (out.layout.item_size != input.layout.item_size) {
    return dtype_error("out has items of ", out.layout.item_size, " bytes, expected ", input.layout.item_size,
                       ", as in ", input_argument);
  }
  BACKSLICE_RETURN_IF_ERROR(check_input(out, "out"));
  BACKSLICE_RETURN_IF_ERROR(check_shape(out, "out", expected, "the shape of the result"));
  if (overlaps_itself(out.layout)) {
    return invalid_argument("out overlaps itself: shape ", Ints(out.shape()), " with byte strides ",
                            Ints(out.layout.strides));
  }
  if (overlap(out, input)) return invalid_argument("out shares memory with ", input_argument);
  return Status();
}

Status check_gradient_dtype(DType dtype, const Selection& selection, const Options& options) {
  if (options.accumulate) {
    if (can_add(dtype)) return Status();
    return dtype_error("accumulate: elements of dtype ", name(dtype), " cannot be added");
  }
  if (has_zero(dtype) || selection.covers_input()) return Status();
  return dtype_error(name(dtype), " has no zero, and the gradient is zero in the ",
                     selection.shape().elements() - selection.result_shape().elements(),
                     " elements that the slice does not select");
}

Executor& executor_of(const Options& options) noexcept {
  return options.executor != nullptr ? *options.executor : default_executor();
}

TaskRunner runner_of(const Options& options) {
  static const Status environment = check_environment();
  static std::atomic<bool> told = environment.ok();
  if (!told.load(std::memory_order_relaxed) && !told.exchange(true)) throw StatusException(environment);
  return {executor_of(options), options.cancelled};
}

Status check_makes_result(const Options& options) {
  if (!options.accumulate) return Status();
  return invalid_argument("accumulate needs out, the tensor to add to");
}

}  // namespace backslice
