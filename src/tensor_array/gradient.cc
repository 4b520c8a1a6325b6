// TensorArray: its gradient arrays.
#include "core/errors.h"
#include "tensor_array/state.h"

namespace backslice {
namespace tensor_array {
namespace {

Result<Shape> prepended(const Shape& prepend, const Shape& shape) {
  const auto known = PartialShape(shape).prepended(prepend, "shape_to_prepend");
  if (!known.ok()) return known.status();
  const auto made = Shape::make(known->dims(), "the gradient's element shape");
  if (!made.ok()) return made.status().at("shape_to_prepend");
  return made;
}

// If an element of the forward array was written, its gradient is zero until it is written.
Status copy_shapes(const SlotTable& from, SlotTable& to, const Shape& prepend) {
  Status status;
  from.for_each_written([&](std::int64_t index, const Slot& slot) {
    const auto shape = prepended(prepend, slot.shape);
    if (shape.ok()) {
      to[index].mark_written(*shape);
    } else {
      status = shape.status();
    }
  });
  return status;
}

Result<std::shared_ptr<State>> make_gradient(const State& array, const std::string& source, const Shape& prepend) {
  const auto shape = array.element_shape.prepended(prepend, "shape_to_prepend");
  if (!shape.ok()) return shape.status();
  if (Status large = check_product(*shape, "shape_to_prepend with the element shape"); !large.ok()) {
    return std::move(large).at("shape_to_prepend");
  }
  TensorArrayOptions options = array.options;
  options.element_shape = *shape;
  options.dynamic_size = options.contiguous = false;
  options.clear_after_read = true;
  options.name = array.name() + "@" + source;
  auto gradient = std::make_shared<State>(array.size, array.dtype, options);
  gradient->is_gradient = true;
  BACKSLICE_RETURN_IF_ERROR(copy_shapes(*array.slots, *gradient->slots, prepend));
  return gradient;
}

}  // namespace
}  // namespace tensor_array

using namespace tensor_array;

Result<TensorArray> TensorArray::grad_with_shape(const std::string& source, Ints shape_to_prepend,
                                                 const Context& context) {
  return without_throwing([&]() -> Result<TensorArray> {
    const auto prepend = Shape::make(shape_to_prepend, "shape_to_prepend");
    if (!prepend.ok()) return prepend.status();
    State& array = *state_;
    if (array.is_gradient) {
      return invalid_argument(array.prefix(), "a gradient of a gradient array cannot be made");
    }
    Call(context, array.device()).tasks.throw_if_cancelled();
    const std::unique_lock lock(array.mutex);
    BACKSLICE_RETURN_IF_ERROR(array.check_open());
    if (const auto made = array.gradients.find(source); made != array.gradients.end()) return TensorArray(made->second);
    auto gradient = make_gradient(array, source, *prepend);
    if (!gradient.ok()) return prepend->rank() > 0 ? gradient.status() : gradient.status().at("");
    array.gradients.emplace(source, *gradient);
    array.options.dynamic_size = false;  // last, since nothing may fail after it
    return TensorArray(*std::move(gradient));
  });
}

Result<std::optional<TensorArray>> TensorArray::find_grad(std::string_view source) const {
  return without_throwing([&]() -> Result<std::optional<TensorArray>> {
    const std::shared_lock lock(state_->mutex);
    const auto made = state_->gradients.find(source);
    if (made == state_->gradients.end()) return std::optional<TensorArray>();
    return std::optional(TensorArray(made->second));
  });
}

Result<GradWithShape> tensor_array_grad_with_shape(TensorArray handle, float, Ints shape_to_prepend,
                                                   const std::string& source, const Context& context) {
  return handle.grad_with_shape(source, shape_to_prepend, context).transform([](TensorArray gradient) {
    return GradWithShape{std::move(gradient), 0};
  });
}

}  // namespace backslice
