#include "tensor_array/writing.h"

#include <algorithm>
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
  if (index >= 0 && array.options.dynamic_size) {
    if (index < kMaxSize) return Status();
    return invalid_argument(array.prefix(), "Tried to write to index ", index, ", past the largest, ", kMaxSize - 1);
  }
  return invalid_argument(array.prefix(), "Tried to write to index ", index,
                          " but array is not resizeable and size is: ", array.size);
}

Status check_write(const State& array, const Slot& slot, std::int64_t index, const Shape& shape,
                   const PartialShape& element_shape) {
  const auto could_not = [&](const auto&... why) {
    return invalid_argument(array.prefix(), "Could not write to TensorArray index ", index, " because ", why...);
  };
  if (!element_shape.is_compatible_with(shape)) {
    return could_not("the value shape is ", Ints(shape), " which is incompatible with the TensorArray's inferred ",
                     "element shape: ", element_shape.to_string());
  }
  if (slot.read || array.all_read) return could_not("it has already been read.");
  if (!slot.written) return Status();
  if (!array.is_gradient) return could_not("it has already been written to.");
  if (!(slot.shape == shape)) {
    return invalid_argument(array.prefix(), "Could not aggregate to TensorArray index ", index,
                            " because the existing shape is ", Ints(slot.shape), " but the new input shape is ",
                            Ints(shape));
  }
  if (!slot.terms.empty() && !can_add(array.dtype)) {
    return dtype_error(array.prefix(), "Could not aggregate to TensorArray index ", index,
                       " because elements of dtype ", name(array.dtype), " cannot be added");
  }
  return Status();
}

// Writes of one call to the same index: an error in forward arrays, and sums must agree in shape.
Status check_duplicates(const State& array, const Tensor& value, std::span<const ElementWrite> writes) {
  std::unordered_map<std::int64_t, const ElementWrite*> first;
  for (const ElementWrite& write : writes) {
    const auto [found, is_new] = first.emplace(write.index, &write);
    if (is_new) continue;
    Slot after;
    after.terms = {found->second->of(value)};
    after.mark_written(after.terms[0].shape());
    BACKSLICE_RETURN_IF_ERROR(check_write(array, after, write.index, write.of(value).shape(), {}));
  }
  return Status();
}

// Appends what a slot holds after a write: the part of the value, or the row of the block that it was copied to.
void append_stored(const State& array, std::vector<Tensor>& terms, const Tensor& value, const ElementWrite& write) {
  if (array.block) return terms.push_back(row_of(*array.block, write.index));
  if (write.part == ElementWrite::Part::Whole) return terms.push_back(value);
  terms.push_back(write.of(value));
}

// Assigns only what changes: where nothing does, the mutex is held shared.
void commit_structure(State& array, std::span<const ElementWrite> writes, const PartialShape& element_shape,
                      Device device) noexcept {
  if (array.fixes_device()) array.fix_device(device);
  if (array.fixes_shape()) array.element_shape = element_shape;
  for (const ElementWrite& write : writes) {
    if (write.index >= array.size) array.size = write.index + 1;
  }
}

// Writes to one slot: first all that can fail, then all that changes.
class Prepared {
 public:
  // For `writes`, which are to one slot, in order, and were checked.
  explicit Prepared(std::span<const ElementWrite> writes) : writes_(writes) {}

  Status take_memory(const State& array, const Tensor& value, const Call& call) {
    std::vector<Tensor>& held = writes_[0].slot->terms;
    const std::size_t count = held.size() + writes_.size();
    if (count <= kMaxTerms) {
      if (count > held.capacity()) held.reserve(std::max(count, std::min(2 * held.size(), kMaxTerms)));
      return Status();
    }
    std::vector<Tensor> terms = held;
    for (const ElementWrite& write : writes_) {
      append_stored(array, terms, value, write);
      if (terms.size() <= kMaxTerms) continue;
      auto sum = sum_of({terms[0].shape(), terms}, array.dtype, array.item_size, call);
      if (!sum.ok()) return sum.status();
      terms = {*std::move(sum)};
    }
    terms_ = std::move(terms);
    return Status();
  }

  // Returns what the slot held and does not hold any longer.
  std::vector<Tensor> commit(const State& array, const Tensor& value) noexcept {
    Slot& slot = *writes_[0].slot;
    if (terms_.empty()) {
      for (const ElementWrite& write : writes_) append_stored(array, slot.terms, value, write);
    } else {
      slot.terms.swap(terms_);
    }
    slot.mark_written(slot.terms[0].shape());
    return std::move(terms_);
  }

 private:
  std::span<const ElementWrite> writes_;
  std::vector<Tensor> terms_;  // what the slot will hold, where that is not what it holds and the writes
};

// One writing operation, with the array's mutex held: alone if it changes the structure, else shared.
class Writer {
 public:
  Writer(State& array, const Tensor& value, const Call& call, Released& released)
      : array_(array), value_(value), call_(call), released_(released) {}

  Status write_all(std::span<ElementWrite> writes) {
    BACKSLICE_RETURN_IF_ERROR(array_.check_open());
    BACKSLICE_RETURN_IF_ERROR(array_.check_written_device(value_.device()));
    if (writes.empty()) return Status();
    std::vector<std::int64_t> indices;
    indices.reserve(writes.size());
    for (const ElementWrite& write : writes) {
      BACKSLICE_RETURN_IF_ERROR(check_range(array_, write.index));
      indices.push_back(write.index);
    }
    LockedSlots slots(array_.slots, indices, call_.tasks);
    PartialShape element_shape = array_.element_shape;
    BACKSLICE_RETURN_IF_ERROR(check_all(writes, slots, element_shape));
    if (slots.has_duplicates()) {
      BACKSLICE_RETURN_IF_ERROR(check_duplicates(array_, value_, writes));
      std::stable_sort(writes.begin(), writes.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
    }
    return store(writes, element_shape);
  }

  // Writes that were checked and whose slots are locked: all that can fail, then all that changes.
  Status store(std::span<const ElementWrite> writes, const PartialShape& element_shape) {
    std::optional<DeviceUse> block, value;
    if (array_.block) {
      block.emplace(array_.block->buffer(), call_.stream);
      value.emplace(value_.buffer(), call_.stream);
    }
    BlockRows rows(array_.block ? writes.size() : 0, call_);
    for (std::size_t i = 0; array_.block && i < writes.size(); ++i) {
      call_.tasks.throw_if_cancelled_at(static_cast<std::int64_t>(i));
      rows.write(row_of(*array_.block, writes[i].index), writes[i].of(value_).view());
    }
    if (writes.size() == 1) {
      Prepared only(writes);
      return commit({&only, 1}, writes, element_shape, rows);
    }
    std::vector<Prepared> prepared;
    prepared.reserve(writes.size());
    for (std::size_t i = 0, end = 0; i < writes.size(); i = end) {
      while (end < writes.size() && writes[end].index == writes[i].index) ++end;
      prepared.emplace_back(writes.subspan(i, end - i));
    }
    return commit(prepared, writes, element_shape, rows);
  }

 private:
  // `element_shape` becomes what is known after the writes.
  Status check_all(std::span<ElementWrite> writes, LockedSlots& slots, PartialShape& element_shape) const {
    Shape shape = writes[0].of(value_).shape();
    for (std::size_t i = 0; i < writes.size(); ++i) {
      call_.tasks.throw_if_cancelled_at(static_cast<std::int64_t>(i));
      if (writes[i].part != ElementWrite::Part::Row) shape = writes[i].of(value_).shape();  // rows are all of one
      BACKSLICE_RETURN_IF_ERROR(check_write(array_, slots[i], writes[i].index, shape, element_shape));
      if (array_.options.identical_element_shapes) element_shape = element_shape.merged_with(shape);
      writes[i].slot = &slots[i];
    }
    return Status();
  }

  Status commit(std::span<Prepared> prepared, std::span<const ElementWrite> writes, const PartialShape& element_shape,
                BlockRows& rows) {
    std::int64_t step = 0;
    for (Prepared& one : prepared) {
      call_.tasks.throw_if_cancelled_at(step++);
      BACKSLICE_RETURN_IF_ERROR(one.take_memory(array_, value_, call_));
    }
    released_.reserve(prepared.size());
    call_.tasks.throw_if_cancelled();
    // From here on nothing can fail.
    rows.keep();
    for (Prepared& one : prepared) released_.push_back(one.commit(array_, value_));
    commit_structure(array_, writes, element_shape, value_.device());
    return Status();
  }

  State& array_;
  const Tensor& value_;
  const Call& call_;
  Released& released_;
};

}  // namespace

Tensor ElementWrite::of(const Tensor& value) const {
  if (part == Part::Whole) return value;
  return part == Part::Row ? row_of(value, lo) : rows_of(value, lo, hi);
}

namespace {

// With the mutex held.
Status write_one(State& array, std::int64_t index, const Tensor& value, const Context& context, Released& released) {
  BACKSLICE_RETURN_IF_ERROR(array.check_open());
  BACKSLICE_RETURN_IF_ERROR(array.check_written_device(value.device()));
  BACKSLICE_RETURN_IF_ERROR(check_range(array, index));
  Slot& slot = array.slots[index];
  const std::lock_guard lock(slot.mutex);
  BACKSLICE_RETURN_IF_ERROR(check_write(array, slot, index, value.shape(), array.element_shape));
  const PartialShape element_shape =
      array.fixes_shape() ? array.element_shape.merged_with(value.shape()) : PartialShape();
  const ElementWrite write{.index = index, .slot = &slot};
  if (array.block || slot.terms.size() == kMaxTerms) {
    return Writer(array, value, Call(context, value.device()), released).store({&write, 1}, element_shape);
  }
  slot.terms.push_back(value);  // only this can fail, and it comes first
  slot.mark_written(value.shape());
  commit_structure(array, {&write, 1}, element_shape, value.device());
  return Status();
}

}  // namespace

Status write_element(State& array, std::int64_t index, const Tensor& value, const Context& context) {
  Released released;
  return array.holding_mutex([&] { return writing_changes_structure(array, index); },
                             [&] { return write_one(array, index, value, context, released); });
}

Status write_elements(State& array, const Tensor& value, std::span<ElementWrite> writes, const Call& call) {
  const auto changes = [&] {
    return std::any_of(writes.begin(), writes.end(),
                       [&](const ElementWrite& w) { return writing_changes_structure(array, w.index); });
  };
  Released released;
  return array.holding_mutex(changes, [&] { return Writer(array, value, call, released).write_all(writes); });
}

}  // namespace backslice::tensor_array
