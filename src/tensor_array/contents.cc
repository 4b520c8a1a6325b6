// TensorArray: its contents as a value, and an array made from them.
#include "core/errors.h"
#include "ops/move.h"
#include "tensor_array/elements.h"
#include "tensor_array/state.h"

namespace backslice {
namespace tensor_array {
namespace {

bool is_in_use(const Slot& slot) { return slot.written || slot.read || slot.cleared; }

// Collects the contents of slots, which become values when no lock is held.
struct Held {
  std::vector<std::vector<Tensor>> terms;  // of each element
  bool are_rows = false;                   // of a block, which a copy has to be made of
};

Held find_contents(State& array, const Call& call, TensorArrayContents& contents) {
  const std::unique_lock lock(array.mutex);  // no other thread uses the slots
  for (Status status : {array.check_open(), array.check_read_device(call.device)}) {
    if (!status.ok()) throwing::refuse(std::move(status));
  }
  contents = {array.size, array.dtype, array.options, array.is_gradient, array.all_read, {}};
  contents.options.element_shape = array.element_shape;
  contents.options.item_size = array.item_size;
  Held held{{}, array.block.has_value()};
  array.slots->for_each([&](std::int64_t index, const Slot& slot) {
    if (!is_in_use(slot)) return;
    contents.elements.push_back({index, slot.shape, std::nullopt, slot.written, slot.read, slot.cleared});
    held.terms.push_back(slot.terms);
  });
  return held;
}

// Precondition: no other thread has the array.
Status restore_element(TensorArray& array, State& state, const TensorArrayContents::Element& element,
                       const Context& context) {
  if (element.index < 0 || element.index >= state.size) {
    return invalid_argument(state.prefix(), "contents has an element ", element.index, ", but its size is ",
                            state.size);
  }
  if (element.value) BACKSLICE_RETURN_IF_ERROR(array.write(element.index, *element.value, context));
  Slot& slot = (*state.slots)[element.index];
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
    TensorArrayContents contents;
    const Held held = find_contents(array, call, contents);
    for (std::size_t i = 0; i < held.terms.size(); ++i) {
      call.tasks.throw_if_cancelled_at(static_cast<std::int64_t>(i));
      const std::vector<Tensor>& terms = held.terms[i];
      if (terms.empty()) continue;
      auto value = held.are_rows ? copy_of(terms[0].view(), call)
                                 : sum_of({contents.elements[i].shape, terms}, array.dtype, array.item_size, call);
      if (!value.ok()) return value.status();
      contents.elements[i].value = *std::move(value);
    }
    return contents;
  });
}

Result<TensorArray> TensorArray::restore(const TensorArrayContents& contents, const Context& context) {
  return without_throwing([&]() -> Result<TensorArray> {
    auto array = make(contents.size, contents.dtype, contents.options, context);
    if (!array.ok()) return array;
    State& state = *array->state_;
    state.is_gradient = contents.is_gradient;
    for (std::size_t i = 0; i < contents.elements.size(); ++i) {
      Status done = restore_element(*array, state, contents.elements[i], context);
      if (done.code() == StatusCode::InvalidArgument) {
        return std::move(done).at("contents.elements", static_cast<std::int64_t>(i));
      }
      if (!done.ok()) return done;
    }
    state.all_read = contents.all_read;
    return array;
  });
}

}  // namespace backslice
