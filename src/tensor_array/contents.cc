// TensorArray: all that it holds, as a value, and an array made of that.
#include "core/errors.h"
#include "ops/move.h"
#include "tensor_array/elements.h"
#include "tensor_array/state.h"

namespace backslice {
namespace tensor_array {
namespace {

bool is_in_use(const Slot& slot) { return slot.written || slot.read || slot.cleared; }

Result<TensorArrayContents::Element> contents_of(const State& array, std::int64_t index, const Slot& slot,
                                                 const Call& call) {
  TensorArrayContents::Element element{index, slot.shape, std::nullopt, slot.written, slot.read, slot.cleared};
  if (slot.terms.empty()) return element;
  // The row of a block is written again by others, so the contents have a copy.
  auto value = array.block ? copy_of(slot.terms[0].view(), call)
                           : sum_of({slot.shape, slot.terms}, array.dtype, array.item_size, call);
  if (!value.ok()) return value.status();
  element.value = *std::move(value);
  return element;
}

// Precondition: nobody else has the array.
Status restore_element(TensorArray& array, State& state, const TensorArrayContents::Element& element,
                       const Context& context) {
  if (element.index < 0 || element.index >= state.size) {
    return invalid_argument(state.prefix(), "there is an element ", element.index, ", but the size is ", state.size);
  }
  if (element.value) BACKSLICE_RETURN_IF_ERROR(array.write(element.index, *element.value, context));
  Slot& slot = state.slots[element.index];
  if (element.written && !element.value) slot.mark_written(element.shape);
  slot.read = element.read;
  slot.cleared = element.cleared;
  if (element.cleared) state.any_cleared = true;
  return Status();
}

}  // namespace
}  // namespace tensor_array

using namespace tensor_array;

Result<TensorArrayContents> TensorArray::contents(const Context& context) const {
  return without_throwing([&]() -> Result<TensorArrayContents> {
    State& array = *state_;
    const Call call(context, array.device());
    const std::unique_lock lock(array.mutex);  // nobody else uses the slots
    BACKSLICE_RETURN_IF_ERROR(array.check_open());
    BACKSLICE_RETURN_IF_ERROR(array.check_read_device(call.device));
    TensorArrayContents contents{array.size, array.dtype, array.options, array.is_gradient, array.all_read, {}};
    contents.options.element_shape = array.element_shape;
    contents.options.item_size = array.item_size;
    Status status;
    std::int64_t step = 0;
    array.slots.for_each([&](std::int64_t index, const Slot& slot) {
      call.tasks.throw_if_cancelled_at(step++);
      if (!is_in_use(slot) || !status.ok()) return;
      auto element = contents_of(array, index, slot, call);
      if (!element.ok()) status = element.status();
      if (status.ok()) contents.elements.push_back(*std::move(element));
    });
    if (!status.ok()) return status;
    return contents;
  });
}

Result<TensorArray> TensorArray::restore(const TensorArrayContents& contents, const Context& context) {
  return without_throwing([&]() -> Result<TensorArray> {
    auto array = make(contents.size, contents.dtype, contents.options, context);
    if (!array.ok()) return array;
    State& state = *array->state_;
    state.is_gradient = contents.is_gradient;
    for (const TensorArrayContents::Element& element : contents.elements) {
      BACKSLICE_RETURN_IF_ERROR(restore_element(*array, state, element, context));
    }
    state.all_read = contents.all_read;
    return array;
  });
}

}  // namespace backslice
