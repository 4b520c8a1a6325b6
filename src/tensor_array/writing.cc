#include "tensor_array/writing.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>

#include "core/errors.h"
#include "memory/tensor_rows.h"
#include "ops/device_use.h"
#include "tensor_array/block_rows.h"
#include "tensor_array/elements.h"
#include "tensor_array/locked_slots.h"

namespace backslice::tensor_array {
namespace {

constexpr std::size_t kMaxTerms = TensorArray::kMaxTerms;

bool writing_changes_structure(const State& array, std::int64_t index) {
  return index >= array.size || array.fixes_shape() || array.fixes_device();
}

Status check_range(const State& array, std::int64_t index) {
  if (index >= 0 && index < array.size) return Status();
  if (index < 0) {
    return invalid_argument(array.prefix(), "Tried to write to index ", index, ", which must be >= 0").at("index");
  }
  if (array.options.dynamic_size) {
    if (index < kMaxSize) return Status();
    return invalid_argument(array.prefix(), "Tried to write to index ", index, ", past the largest, ", kMaxSize - 1)
        .at("index");
  }
  return invalid_argument(array.prefix(), "Tried to write to index ", index, ", but the array has ",
                          counted(array.size, "element", "elements"), " and a fixed size")
      .at("index");
}

Status check_write(const State& array, const Slot& slot, std::int64_t index, const Shape& shape,
                   const PartialShape& element_shape) {
  const auto could_not = [&](const auto&... why) {
    return invalid_argument(array.prefix(), "Could not write to index ", index, " because ", why...);
  };
  if (!element_shape.is_compatible_with(shape)) {
    return could_not("the value has shape ", Ints(shape), ", which does not fit the element shape ",
                     element_shape.to_string())
        .at("value");
  }
  if (slot.read || array.all_read) return could_not("it has already been read").at("index");
  if (slot.claimed || slot.readers > 0 || array.block_readers > 0) return array.claimed_error(index);
  if (!slot.written) return Status();
  if (!array.is_gradient) return could_not("it has already been written to").at("index");
  if (!(slot.shape == shape)) {
    return invalid_argument(array.prefix(), "Could not add to index ", index, " because its shape is ",
                            Ints(slot.shape), ", but the value has shape ", Ints(shape))
        .at("value");
  }
  if (!slot.terms.empty() && !can_add(array.dtype)) {
    return dtype_error(array.prefix(), "Could not add to index ", index, " because elements of dtype ",
                       name(array.dtype), " cannot be added")
        .at("value");
  }
  return Status();
}

// Checks writes of one call to the same index: an error in forward arrays; sums must agree in shape.
Status check_duplicates(const State& array, const Tensor& value, std::span<const ElementWrite> writes,
                        ChosenBy chosen_by) {
  std::unordered_map<std::int64_t, const ElementWrite*> first;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const ElementWrite& write = writes[i];
    const auto [found, is_new] = first.emplace(write.index, &write);
    if (is_new) continue;
    Slot after;
    after.terms = {found->second->of(value)};
    after.mark_written(after.terms[0].shape());
    BACKSLICE_RETURN_IF_ERROR(chosen_by.blame(check_write(array, after, write.index, write.of(value).shape(), {}), i));
  }
  return Status();
}

// Assigns only changes: if nothing changes, the mutex is held shared.
void commit_structure(State& array, std::span<const ElementWrite> writes, const PartialShape& element_shape,
                      Device device) noexcept {
  if (array.fixes_device()) array.fix_device(device);
  if (array.fixes_shape()) array.element_shape = element_shape;
  for (const ElementWrite& write : writes) {
    if (write.index >= array.size) array.size = write.index + 1;
  }
}

// The writes of one operation to one slot, in order.
using Group = std::span<const ElementWrite>;

// The new contents of slots without room for another term: sums, which are made while no lock is held.
class Sums {
 public:
  Sums(const State& array, const Tensor& value, const Call& call) : array_(array), value_(value), call_(call) {}

  // Returns the slot's terms after the writes, or null if the sum is still to be made. Precondition: the slot is
  // locked.
  std::vector<Tensor>* find(const Group& group) {
    Sum& sum = sums_[group[0].slot];
    if (sum.is_ready && sum.version == group[0].slot->version) return &sum.terms;
    outdated_.push_back(std::move(sum.terms));  // must not be released here
    sum = {group, group[0].slot->version, group[0].slot->terms};
    return nullptr;
  }

  // Makes the sums that find() did not find. Precondition: no lock is held.
  void make() {
    std::int64_t step = 0;
    for (auto& [slot, sum] : sums_) {
      call_.tasks.throw_if_cancelled_at(step++);
      if (!sum.is_ready) add_up(sum);
    }
  }

 private:
  struct Sum {
    Group group;
    std::uint32_t version = 0;
    std::vector<Tensor> terms;
    bool is_ready = false;
  };

  void add_up(Sum& sum) const {
    for (const ElementWrite& write : sum.group) {
      sum.terms.push_back(write.of(value_));
      if (sum.terms.size() <= kMaxTerms) continue;
      const Element all{sum.terms[0].shape(), sum.terms};
      Tensor total = throwing::unwrap(sum_of(all, array_.dtype, array_.item_size, call_));
      sum.terms = {std::move(total)};
    }
    sum.is_ready = true;
  }

  const State& array_;
  const Tensor& value_;
  const Call& call_;
  std::unordered_map<const Slot*, Sum> sums_;
  std::vector<std::vector<Tensor>> outdated_;
};

// One writing operation into an array without a block. New tensors are made before any lock is taken. Under the locks,
// everything is checked, then stored.
class Writer {
 public:
  Writer(State& array, const Tensor& value, std::span<ElementWrite> writes, ChosenBy chosen_by, const Call& call)
      : array_(array), value_(value), writes_(writes), chosen_by_(chosen_by), call_(call), sums_(array, value, call) {}

  Status run() {
    make_terms();
    const auto changes = [&] {
      return std::any_of(writes_.begin(), writes_.end(),
                         [&](const ElementWrite& w) { return writing_changes_structure(array_, w.index); });
    };
    for (;;) {  // another pass if sums are to be made, and one for each write of another call meanwhile
      call_.tasks.throw_if_cancelled();
      Released released;
      BACKSLICE_RETURN_IF_ERROR(array_.holding_mutex(changes, [&] { return try_to_write(released); }));
      if (is_done_) return Status();
      sums_.make();
    }
  }

 private:
  // Each term in a list of its own, which becomes the slot's list: there may be millions.
  void make_terms() {
    terms_.reserve(writes_.size());
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      call_.tasks.throw_if_cancelled_at(static_cast<std::int64_t>(i));
      terms_.emplace_back().push_back(writes_[i].of(value_));
      writes_[i].number = i;
    }
  }

  Status try_to_write(Released& released) {
    BACKSLICE_RETURN_IF_ERROR(array_.check_open());
    BACKSLICE_RETURN_IF_ERROR(array_.check_written_device(value_.device()));
    std::vector<std::int64_t> indices;
    indices.reserve(writes_.size());
    for (const ElementWrite& write : writes_) {
      BACKSLICE_RETURN_IF_ERROR(chosen_by_.blame(check_range(array_, write.index), indices.size()));
      indices.push_back(write.index);
    }
    table_ = array_.slots;
    const SlotList slots(*table_, indices);
    const LockedSlots lock(slots);
    PartialShape element_shape = array_.element_shape;
    BACKSLICE_RETURN_IF_ERROR(check_all(slots, element_shape));
    if (slots.has_duplicates()) {
      BACKSLICE_RETURN_IF_ERROR(check_duplicates(array_, value_, writes_, chosen_by_));
      std::stable_sort(writes_.begin(), writes_.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
    }
    if (!take_memory(released)) return Status();
    // From here on nothing can fail.
    for_each_group([&](const Group& group) { store(group, released); });
    commit_structure(array_, writes_, element_shape, value_.device());
    is_done_ = true;
    return Status();
  }

  // Sets the element shape to the shape known after the writes.
  Status check_all(const SlotList& slots, PartialShape& element_shape) const {
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      const Shape& shape = terms_[writes_[i].number][0].shape();
      BACKSLICE_RETURN_IF_ERROR(
          chosen_by_.blame(check_write(array_, slots[i], writes_[i].index, shape, element_shape), i));
      if (array_.options.identical_element_shapes) element_shape = element_shape.merged_with(shape);
      writes_[i].slot = &slots[i];
    }
    return Status();
  }

  template <class Body>
  void for_each_group(const Body& body) const {
    for (std::size_t i = 0, end = 0; i < writes_.size(); i = end) {
      while (end < writes_.size() && writes_[end].index == writes_[i].index) ++end;
      body(Group(writes_.subspan(i, end - i)));
    }
  }

  static bool has_room(const Group& group) { return group[0].slot->terms.size() + group.size() <= kMaxTerms; }

  // Returns false if sums are still to be made.
  bool take_memory(Released& released) {
    bool has_all = true;
    std::size_t sums = 0;
    for_each_group([&](const Group& group) {
      std::vector<Tensor>& held = group[0].slot->terms;
      if (!has_room(group)) {
        has_all &= sums_.find(group) != nullptr;
        ++sums;
      } else if (const std::size_t count = held.size() + group.size(); count > 1 && count > held.capacity()) {
        held.reserve(std::max(count, std::min(2 * held.size(), kMaxTerms)));
      }
    });
    if (has_all) released.reserve(sums);
    return has_all;
  }

  void store(const Group& group, Released& released) noexcept {
    Slot& slot = *group[0].slot;
    if (!has_room(group)) {
      slot.terms.swap(*sums_.find(group));
      released.push_back(std::move(*sums_.find(group)));
    } else if (slot.terms.empty() && group.size() == 1) {
      slot.terms.swap(terms_[group[0].number]);
    } else {
      for (const ElementWrite& write : group) slot.terms.push_back(std::move(terms_[write.number][0]));
    }
    slot.mark_written(slot.terms[0].shape());
  }

  State& array_;
  const Tensor& value_;
  std::span<ElementWrite> writes_;
  const ChosenBy chosen_by_;
  const Call& call_;
  Sums sums_;
  std::shared_ptr<SlotTable> table_;
  std::vector<std::vector<Tensor>> terms_;  // of each write
  bool is_done_ = false;
};

// One writing operation into the block of contiguous mode: slots are claimed while their rows are written.
class BlockWriter {
 public:
  BlockWriter(State& array, const Tensor& value, std::span<ElementWrite> writes, ChosenBy chosen_by, const Call& call)
      : array_(array), value_(value), writes_(writes), chosen_by_(chosen_by), call_(call) {}
  ~BlockWriter() {
    if (has_claims_) give_up();
  }
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  Status run() {
    {
      const std::shared_lock lock(array_.mutex);
      BACKSLICE_RETURN_IF_ERROR(begin());
    }
    if (writes_.empty()) return Status();
    const DeviceUse block(block_->buffer(), call_.stream), value(value_.buffer(), call_.stream);
    BlockRows rows(writes_.size(), call_);
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      call_.tasks.throw_if_cancelled_at(static_cast<std::int64_t>(i));
      rows.write(row_of(*block_, writes_[i].index), writes_[i].of(value_));
    }
    call_.tasks.throw_if_cancelled();
    const std::shared_lock lock(array_.mutex);
    const LockedSlots locked(slots_);
    rows.keep();
    for (const ElementWrite& write : writes_) {
      write.slot->terms.push_back(row_of(*block_, write.index));
      write.slot->mark_written(write.slot->terms[0].shape());
    }
    release();
    return Status();
  }

 private:
  Status begin() {
    BACKSLICE_RETURN_IF_ERROR(array_.check_open());
    BACKSLICE_RETURN_IF_ERROR(array_.check_written_device(value_.device()));
    std::vector<std::int64_t> indices;
    indices.reserve(writes_.size());
    for (const ElementWrite& write : writes_) {
      BACKSLICE_RETURN_IF_ERROR(chosen_by_.blame(check_range(array_, write.index), indices.size()));
      indices.push_back(write.index);
    }
    if (writes_.empty()) return Status();
    table_ = array_.slots;
    block_ = array_.block;
    slots_ = SlotList(*table_, indices);
    const LockedSlots lock(slots_);
    Shape shape;
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      if (i == 0 || writes_[i].part != ElementWrite::Part::Row) shape = writes_[i].of(value_).shape();
      BACKSLICE_RETURN_IF_ERROR(
          chosen_by_.blame(check_write(array_, slots_[i], writes_[i].index, shape, array_.element_shape), i));
      writes_[i].slot = &slots_[i];
    }
    if (slots_.has_duplicates()) BACKSLICE_RETURN_IF_ERROR(check_duplicates(array_, value_, writes_, chosen_by_));
    for (Slot* slot : slots_.distinct()) slot->terms.reserve(1);
    for (Slot* slot : slots_.distinct()) slot->claimed = true;
    ++array_.row_claims;
    has_claims_ = true;
    return Status();
  }

  // Precondition: the slots are locked.
  void release() noexcept {
    for (Slot* slot : slots_.distinct()) slot->claimed = false;
    --array_.row_claims;
    has_claims_ = false;
  }

  void give_up() noexcept {
    try {
      const std::shared_lock lock(array_.mutex);
      const LockedSlots locked(slots_);
      release();
    } catch (...) {  // in a forked child, where the elements stay claimed
    }
  }

  State& array_;
  const Tensor& value_;
  std::span<ElementWrite> writes_;
  const ChosenBy chosen_by_;
  const Call& call_;
  std::shared_ptr<SlotTable> table_;
  std::optional<Tensor> block_;
  SlotList slots_;
  bool has_claims_ = false;
};

// Precondition: the mutex is held. Returns nullopt if the write does more than append a term.
std::optional<Status> append_term(State& array, std::int64_t index, const Tensor& value) {
  BACKSLICE_RETURN_IF_ERROR(array.check_open());
  BACKSLICE_RETURN_IF_ERROR(array.check_written_device(value.device()));
  BACKSLICE_RETURN_IF_ERROR(check_range(array, index));
  if (array.block) return std::nullopt;
  Slot& slot = (*array.slots)[index];
  const std::lock_guard lock(slot.mutex);
  BACKSLICE_RETURN_IF_ERROR(check_write(array, slot, index, value.shape(), array.element_shape));
  if (slot.terms.size() == kMaxTerms) return std::nullopt;
  const PartialShape element_shape =
      array.fixes_shape() ? array.element_shape.merged_with(value.shape()) : PartialShape();
  const ElementWrite write{.index = index};
  slot.terms.push_back(value);  // the only step that can fail comes first
  slot.mark_written(value.shape());
  commit_structure(array, {&write, 1}, element_shape, value.device());
  return Status();
}

}  // namespace

Tensor ElementWrite::of(const Tensor& value) const {
  if (part == Part::Whole) return value;
  return part == Part::Row ? row_of(value, lo) : rows_of(value, lo, hi);
}

Status write_element(State& array, std::int64_t index, const Tensor& value, const Context& context) {
  std::optional<Status> done = array.holding_mutex([&] { return writing_changes_structure(array, index); },
                                                   [&] { return append_term(array, index, value); });
  if (done) return *std::move(done);
  ElementWrite write{.index = index};
  return write_elements(array, value, {&write, 1}, kByIndex, Call(context, value.device()));
}

Status write_elements(State& array, const Tensor& value, std::span<ElementWrite> writes, ChosenBy chosen_by,
                      const Call& call) {
  if (array.options.contiguous) return BlockWriter(array, value, writes, chosen_by, call).run();
  return Writer(array, value, writes, chosen_by, call).run();
}

}  // namespace backslice::tensor_array
