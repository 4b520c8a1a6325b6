#include "tensor_array/reading.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/errors.h"
#include "tensor_array/locked_slots.h"
#include "tensor_array/result_shape.h"

namespace backslice::tensor_array {
namespace {

Status check_read_range(const State& array, std::int64_t index) {
  if (index >= 0 && (index < array.size || (array.is_gradient && index < kMaxSize))) return Status();
  return invalid_argument(array.prefix(), "Tried to read from index ", index, ", but the array has ",
                          counted(array.size, "element", "elements"))
      .at("index");
}

Status cleared(const State& array, std::int64_t index) {
  return invalid_argument(array.prefix(), "Could not read index ", index,
                          " twice because it was cleared after a previous read; an array made with "
                          "clear_after_read = false keeps what is read")
      .at("index");
}

// Returns the value of the slot, without changing it.
Result<Element> element_of(const State& array, const Slot& slot, std::int64_t index, const PartialShape& known) {
  if (slot.cleared || (array.all_read && array.options.clear_after_read)) return cleared(array, index);
  if (slot.written) return Element{slot.shape, slot.terms};
  const auto shape = known.full();
  if (shape) return Element{*shape, {}};
  if (Status too_large = check_product(known, "element_shape"); !too_large.ok()) return std::move(too_large).at("");
  return invalid_argument(array.prefix(), "Could not read index ", index,
                          ": it has not been written, and the element shape is not fully defined: ", known.to_string())
      .at("index");
}

Result<PartialShape> merged_shape(const State& array, const PartialShape& given) {
  if (array.element_shape.is_compatible_with(given)) return array.element_shape.merged_with(given);
  return invalid_argument(array.prefix(), "the element shape that was given, ", given.to_string(),
                          ", does not fit the array's element shape, ", array.element_shape.to_string())
      .at("element_shape");
}

Status check_fits(const State& array, const Element& element, std::int64_t index, const PartialShape& known) {
  if (known.is_compatible_with(element.shape)) return Status();
  return invalid_argument(array.prefix(), "the element at index ", index, " has shape ", Ints(element.shape),
                          ", which does not fit the element shape that was given, ", known.to_string())
      .at("element_shape");
}

// Returns the first place in the list whose index occurs earlier in it.
std::size_t first_repeated(Ints indices) {
  std::unordered_set<std::int64_t> seen;
  std::size_t i = 0;
  while (seen.insert(indices[i]).second) ++i;
  return i;
}

// One reading operation: it begins and commits with the array's mutex held, and works without it. The elements are
// claimed meanwhile.
class Reader {
 public:
  Reader(State& array, const Reading& reading, Effect effect, const Call& call)
      : array_(array), reading_(reading), effect_(effect), call_(call) {}
  ~Reader() {
    if (claim_ != Claim::None) give_up();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Checks everything, and claims the elements. Afterwards elements() and shape() are known.
  Status begin() {
    BACKSLICE_RETURN_IF_ERROR(array_.check_open());
    BACKSLICE_RETURN_IF_ERROR(array_.check_read_device(call_.device));
    if (!reading_.indices && reading_.join == Reading::Join::Stack && has_whole_block()) return begin_block();
    if (reading_.indices) return begin_slots(*reading_.indices);
    const char* done = reading_.join == Reading::Join::Stack ? "stacked" : "concatenated";
    auto all = array_.indices_up_to(array_.size, done);
    if (!all.ok()) return all.status();
    all_ = *std::move(all);
    return begin_slots(all_);
  }

  std::span<const Element> elements() const { return elements_; }
  const Shape& shape() const { return shape_; }

  // Marks the elements as read. Memory that they no longer need moves to `released`.
  Status commit(Released& released) {
    if (claim_ == Claim::Block) {
      array_.all_read = true;
      --array_.block_readers;
    } else {
      const auto known = merged_shape(array_, given());
      if (!known.ok()) return known.status();
      const LockedSlots lock(slots_);
      if (array_.options.clear_after_read) released.reserve(slots_.distinct().size());
      if (given().has_rank()) array_.element_shape = *known;
      for (const std::int64_t index : indices_) {
        if (index >= array_.size) array_.size = index + 1;
      }
      for (Slot* slot : slots_.distinct()) {
        slot->read = true;
        if (!array_.options.clear_after_read) continue;
        slot->cleared = true;
        released.push_back(std::exchange(slot->terms, {}));
        array_.any_cleared = true;
      }
      if (claim_ == Claim::Slots) release_slots();
    }
    claim_ = Claim::None;
    return Status();
  }

 private:
  enum class Claim { None, Block, Slots };

  Status blamed_on(Status error, std::size_t i) const { return reading_.chosen_by().blame(std::move(error), i); }

  PartialShape given() const { return reading_.join == Reading::Join::Stack ? reading_.element_shape : PartialShape(); }

  // Reads all elements at once in contiguous mode. Precondition: none was cleared.
  bool has_whole_block() const {
    if (!array_.block) return false;
    return array_.all_read ? !array_.options.clear_after_read : !array_.any_cleared;
  }

  Status begin_block() {
    block_ = array_.block;
    elements_.push_back({block_->shape(), {&*block_, 1}});
    shape_ = block_->shape();
    if (effect_ == Effect::None) return Status();
    const bool is_in_use = array_.row_claims > 0 || (array_.options.clear_after_read && array_.block_readers > 0);
    if (is_in_use && array_.size > 0) return array_.claimed_error(0);
    ++array_.block_readers;
    claim_ = Claim::Block;
    return Status();
  }

  Status begin_slots(Ints indices) {
    indices_ = indices;
    const auto known = merged_shape(array_, given());
    if (!known.ok()) return known.status();
    for (std::size_t i = 0; i < indices.size(); ++i) {
      BACKSLICE_RETURN_IF_ERROR(blamed_on(check_read_range(array_, indices[i]), i));
    }
    table_ = array_.slots;
    slots_ = SlotList(*table_, indices);
    const LockedSlots lock(slots_);
    if (effect_ == Effect::Read) BACKSLICE_RETURN_IF_ERROR(check_unclaimed());
    BACKSLICE_RETURN_IF_ERROR(find_elements(*known));
    auto shape = shape_of(*known);
    if (!shape.ok()) return shape.status();
    shape_ = *shape;
    if (effect_ == Effect::Read) claim_slots();
    return Status();
  }

  // Only reading conflicts with a claim: shapes are known, whatever becomes of it.
  Status check_unclaimed() const {
    const bool is_block_claimed = array_.options.clear_after_read && array_.block_readers > 0;
    for (std::size_t i = 0; i < indices_.size(); ++i) {
      if (slots_[i].claimed || is_block_claimed) return array_.claimed_error(indices_[i]);
    }
    return Status();
  }

  Status find_elements(const PartialShape& known) {
    elements_.reserve(indices_.size());
    for (std::size_t i = 0; i < indices_.size(); ++i) {
      auto element = element_of(array_, slots_[i], indices_[i], known);
      if (!element.ok()) return blamed_on(element.status(), i);
      elements_.push_back(*std::move(element));
    }
    if (array_.options.clear_after_read && slots_.has_duplicates()) {
      const std::size_t repeated = first_repeated(indices_);
      return blamed_on(cleared(array_, indices_[repeated]), repeated);
    }
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      BACKSLICE_RETURN_IF_ERROR(check_fits(array_, elements_[i], indices_[i], known));
    }
    return Status();
  }

  Result<Shape> shape_of(const PartialShape& known) const {
    switch (reading_.join) {
      case Reading::Join::One: return elements_[0].shape;
      case Reading::Join::Stack: return stacked_elements(array_, indices_, elements_, known);
      default: return concatenated_elements(array_, elements_, reading_.element_shape);
    }
  }

  // Precondition of both: the slots are locked.
  void claim_slots() noexcept {
    if (indices_.empty()) return;
    const bool alone = array_.options.clear_after_read;
    for (Slot* slot : slots_.distinct()) alone ? void(slot->claimed = true) : void(++slot->readers);
    if (alone) ++array_.row_claims;
    claim_ = Claim::Slots;
  }
  void release_slots() noexcept {
    const bool alone = array_.options.clear_after_read;
    for (Slot* slot : slots_.distinct()) alone ? void(slot->claimed = false) : void(--slot->readers);
    if (alone) --array_.row_claims;
  }

  void give_up() noexcept {
    try {
      if (claim_ == Claim::Block) {
        const std::unique_lock lock(array_.mutex);
        --array_.block_readers;
      } else {
        const std::shared_lock lock(array_.mutex);
        const LockedSlots locked(slots_);
        release_slots();
      }
    } catch (...) {  // in a forked child, where the elements stay claimed
    }
  }

  State& array_;
  const Reading& reading_;
  Effect effect_;
  const Call& call_;
  Claim claim_ = Claim::None;
  std::vector<std::int64_t> all_;
  Ints indices_;
  std::shared_ptr<SlotTable> table_;
  SlotList slots_;
  std::optional<Tensor> block_;
  std::vector<Element> elements_;
  Shape shape_;
};

// Returns whether the operation changes members that the array's mutex guards.
bool reading_changes_structure(const State& array, const Reading& reading) {
  if (!reading.indices) return array.block && reading.join == Reading::Join::Stack;
  if (reading.element_shape.has_rank()) return true;
  return std::any_of(reading.indices->begin(), reading.indices->end(),
                     [&](std::int64_t index) { return index >= array.size; });
}

}  // namespace

std::optional<Result<Tensor>> take_term(State& array, std::int64_t index, std::vector<Tensor>& released) {
  const std::shared_lock lock(array.mutex);
  const bool clears = array.options.clear_after_read;
  if (array.closed || !array.device().is_cpu() || index < 0 || index >= array.size) return std::nullopt;
  if (clears && array.block_readers > 0) return std::nullopt;
  Slot& slot = (*array.slots)[index];
  const std::lock_guard slot_lock(slot.mutex);
  if (slot.terms.size() != 1 || slot.claimed) return std::nullopt;
  const auto element = element_of(array, slot, index, array.element_shape);
  if (!element.ok()) return element.status();
  Tensor term = slot.terms[0];
  slot.read = true;
  if (clears) {
    slot.cleared = true;
    slot.terms.swap(released);
    array.any_cleared = true;
  }
  return term;
}

Status read_elements(State& array, const Reading& reading, Effect effect, const Call& call, const UseElements& use) {
  Released released;
  Reader reader(array, reading, effect, call);
  const auto changes = [&] { return reading_changes_structure(array, reading); };
  BACKSLICE_RETURN_IF_ERROR(array.holding_mutex(changes, [&] { return reader.begin(); }));
  BACKSLICE_RETURN_IF_ERROR(use(reader.elements(), reader.shape()));
  if (effect == Effect::None) return Status();
  return array.holding_mutex(changes, [&] { return reader.commit(released); });
}

}  // namespace backslice::tensor_array
