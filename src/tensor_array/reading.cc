#include "tensor_array/reading.h"

#include <algorithm>
#include <utility>

#include "core/errors.h"
#include "tensor_array/locked_slots.h"
#include "tensor_array/result_shape.h"

namespace backslice::tensor_array {
namespace {

Status check_read_range(const State& array, std::int64_t index) {
  if (index >= 0 && (index < array.size || (array.is_gradient && index < kMaxSize))) return Status();
  return invalid_argument(array.prefix(), "Tried to read from index ", index, " but array size is: ", array.size);
}

Status cleared(const State& array, std::int64_t index) {
  return invalid_argument(array.prefix(), "Could not read index ", index,
                          " twice because it was cleared after a previous read (perhaps try setting "
                          "clear_after_read = false?)");
}

// What reading the slot gives, without changing it.
Result<Element> element_of(const State& array, const Slot& slot, std::int64_t index, const PartialShape& known) {
  if (slot.cleared || (array.all_read && array.options.clear_after_read)) return cleared(array, index);
  if (slot.written) return Element{slot.shape, slot.terms};
  const auto shape = known.full();
  if (shape) return Element{*shape, {}};
  BACKSLICE_RETURN_IF_ERROR(check_product(known, "element_shape"));
  return invalid_argument(array.prefix(), "Could not read index ", index,
                          ": it has not been written, and the element shape is not fully defined: ", known.to_string());
}

Result<PartialShape> merged_shape(const State& array, const PartialShape& given) {
  if (array.element_shape.is_compatible_with(given)) return array.element_shape.merged_with(given);
  return invalid_argument(array.prefix(), "the element shape that was given, ", given.to_string(),
                          ", does not fit the array's element shape, ", array.element_shape.to_string());
}

Status check_fits(const State& array, const Element& element, std::int64_t index, const PartialShape& known) {
  if (known.is_compatible_with(element.shape)) return Status();
  return invalid_argument(array.prefix(), "the element at index ", index, " has shape ", Ints(element.shape),
                          ", which does not fit the element shape that was given, ", known.to_string());
}

std::int64_t first_repeated(Ints indices) {
  std::vector<std::int64_t> sorted(indices.begin(), indices.end());
  std::sort(sorted.begin(), sorted.end());
  return *std::adjacent_find(sorted.begin(), sorted.end());
}

// One reading operation, with the array's mutex held.
class Reader {
 public:
  Reader(State& array, const Reading& reading, Effect effect, const Call& call, Released& released)
      : array_(array), reading_(reading), effect_(effect), call_(call), released_(released) {}

  Status run(const UseElements& use) {
    BACKSLICE_RETURN_IF_ERROR(array_.check_open());
    BACKSLICE_RETURN_IF_ERROR(array_.check_read_device(call_.device));
    if (reading_.indices) return read(*reading_.indices, use);
    if (reading_.join == Reading::Join::Stack && has_whole_block()) return read_block(use);
    const char* done = reading_.join == Reading::Join::Stack ? "stacked" : "concatenated";
    const auto all = array_.indices_up_to(array_.size, done);
    if (!all.ok()) return all.status();
    return read(*all, use);
  }

 private:
  // In contiguous mode, all elements at once, which none has been cleared of.
  bool has_whole_block() const {
    if (!array_.block) return false;
    return array_.all_read ? !array_.options.clear_after_read : !array_.any_cleared;
  }

  Status read_block(const UseElements& use) {
    const Tensor& block = *array_.block;
    const Element whole{block.shape(), {&block, 1}};
    BACKSLICE_RETURN_IF_ERROR(use({&whole, 1}, block.shape()));
    if (effect_ == Effect::Read) array_.all_read = true;
    return Status();
  }

  Status read(Ints indices, const UseElements& use) {
    const PartialShape given = reading_.join == Reading::Join::Stack ? reading_.element_shape : PartialShape();
    const auto known = merged_shape(array_, given);
    if (!known.ok()) return known.status();
    for (std::int64_t index : indices) BACKSLICE_RETURN_IF_ERROR(check_read_range(array_, index));
    LockedSlots slots(array_.slots, indices, call_.tasks);
    const auto elements = elements_of(slots, indices, *known);
    if (!elements.ok()) return elements.status();
    const auto shape = shape_of(indices, *elements, *known);
    if (!shape.ok()) return shape.status();
    if (array_.options.clear_after_read) released_.reserve(indices.size());
    BACKSLICE_RETURN_IF_ERROR(use(*elements, *shape));
    if (effect_ == Effect::Read) commit(slots, indices, given, *known);
    return Status();
  }

  Result<std::vector<Element>> elements_of(LockedSlots& slots, Ints indices, const PartialShape& known) const {
    std::vector<Element> elements;
    elements.reserve(indices.size());
    for (std::size_t i = 0; i < indices.size(); ++i) {
      call_.tasks.throw_if_cancelled_at(static_cast<std::int64_t>(i));
      auto element = element_of(array_, slots[i], indices[i], known);
      if (!element.ok()) return element.status();
      elements.push_back(*std::move(element));
    }
    if (slots.has_duplicates() && array_.options.clear_after_read) return cleared(array_, first_repeated(indices));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      BACKSLICE_RETURN_IF_ERROR(check_fits(array_, elements[i], indices[i], known));
    }
    return elements;
  }

  Result<Shape> shape_of(Ints indices, std::span<const Element> elements, const PartialShape& known) const {
    switch (reading_.join) {
      case Reading::Join::One: return elements[0].shape;
      case Reading::Join::Stack: return stacked_elements(array_, indices, elements, known);
      default: return concatenated_elements(array_, elements, reading_.element_shape);
    }
  }

  // Nothing can fail here. Only what changes is assigned: where nothing does, mutex is held shared.
  void commit(LockedSlots& slots, Ints indices, const PartialShape& given, const PartialShape& known) noexcept {
    if (given.has_rank()) array_.element_shape = known;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] >= array_.size) array_.size = indices[i] + 1;
      slots[i].read = true;
      if (!array_.options.clear_after_read) continue;
      slots[i].cleared = true;
      released_.push_back(std::exchange(slots[i].terms, {}));
      array_.any_cleared = true;
    }
  }

  State& array_;
  const Reading& reading_;
  Effect effect_;
  const Call& call_;
  Released& released_;
};

// Whether the operation changes what the array's mutex guards.
bool reading_changes_structure(const State& array, const Reading& reading) {
  if (!reading.indices) return array.block && reading.join == Reading::Join::Stack;
  if (reading.element_shape.has_rank()) return true;
  return std::any_of(reading.indices->begin(), reading.indices->end(),
                     [&](std::int64_t index) { return index >= array.size; });
}

}  // namespace

Status read_elements(State& array, const Reading& reading, Effect effect, const Call& call, const UseElements& use) {
  Released released;
  return array.holding_mutex([&] { return reading_changes_structure(array, reading); },
                             [&] { return Reader(array, reading, effect, call, released).run(use); });
}

}  // namespace backslice::tensor_array
