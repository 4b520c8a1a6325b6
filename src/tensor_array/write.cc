// TensorArray: writing elements. An operation locks its slots, checks everything, and only then changes anything.
#include <unordered_map>

#include "ops/move.h"
#include "tensor_array/impl.h"

namespace backslice {

Status TensorArray::Impl::write(std::int64_t index, const Tensor& value, const Context& context) {
  BACKSLICE_RETURN_IF_ERROR(check_dtype(value));
  Write write{.index = index};
  Released released;
  return holding_mutex([&] { return changes_structure(index); },
                       [&] { return write_locked(value, write, context, released); });
}

Status TensorArray::Impl::scatter(Ints indices, const Tensor& value, const Context& context) {
  if (value.shape().rank() < 1) {
    return invalid_argument(prefix(), "the value to scatter must have a row for each index, got a scalar");
  }
  if (static_cast<std::int64_t>(indices.size()) != value.shape()[0]) {
    return invalid_argument(prefix(), "expected as many rows as indices, but value has shape ", Ints(value.shape()),
                            " and there are ", indices.size(), " indices");
  }
  BACKSLICE_RETURN_IF_ERROR(check_dtype(value));
  {
    const std::shared_lock lock(mutex_);
    BACKSLICE_RETURN_IF_ERROR(check_open());
    const auto largest = std::max_element(indices.begin(), indices.end());
    if (largest != indices.end() && *largest >= size_ && !options_.dynamic_size) {
      return invalid_argument(prefix(), "Max scatter index must be < array size (", *largest, " vs. ", size_, ")");
    }
  }
  std::vector<Write> writes;
  writes.reserve(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    writes.push_back({.index = indices[i], .part = Write::Part::Row, .lo = static_cast<std::int64_t>(i)});
  }
  return write_all(value, writes, context);
}

Status TensorArray::Impl::unstack(const Tensor& value, const Context& context) {
  if (value.shape().rank() < 1) {
    return invalid_argument(prefix(), "the value to unstack must have a row for each index, got a scalar");
  }
  const auto indices = indices_up_to(value.shape()[0], "unstacked");
  if (!indices.ok()) return indices.status();
  return scatter(*indices, value, context);
}

Status TensorArray::Impl::split(const Tensor& value, Ints lengths, const Context& context) {
  if (value.shape().rank() < 1) {
    return invalid_argument(prefix(),
                            "expected value to be at least a vector, but received shape: ", Ints(value.shape()));
  }
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0) return invalid_argument(prefix(), "lengths[", i, "] is ", lengths[i], ", must be >= 0");
    if (__builtin_add_overflow(sum, lengths[i], &sum)) {
      return invalid_argument(prefix(), "lengths add up to more than 2**63 - 1 (at lengths[", i, "])");
    }
  }
  if (sum != value.shape()[0]) {
    return invalid_argument(prefix(), "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is ",
                            sum, " and value's shape is: ", Ints(value.shape()));
  }
  BACKSLICE_RETURN_IF_ERROR(check_dtype(value));
  {
    const std::shared_lock lock(mutex_);
    BACKSLICE_RETURN_IF_ERROR(check_open());
    const auto count = static_cast<std::int64_t>(lengths.size());
    if (options_.dynamic_size ? count < size_ : count != size_) {
      return invalid_argument(prefix(), "TensorArray's size is not equal to the size of lengths (", size_, " vs. ",
                              count, "), and the TensorArray is not marked as dynamically resizeable");
    }
  }
  std::vector<Write> writes;
  writes.reserve(lengths.size());
  std::int64_t row = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    writes.push_back({.index = index, .part = Write::Part::Rows, .lo = row, .hi = row + lengths[i]});
    row += lengths[i];
  }
  return write_all(value, writes, context);
}

bool TensorArray::Impl::changes_structure(std::int64_t index) const {
  return index >= size_ || (options_.identical_element_shapes && !element_shape_.full());
}

bool TensorArray::Impl::changes_structure(std::span<const Write> writes) const {
  return std::any_of(writes.begin(), writes.end(), [&](const Write& w) { return changes_structure(w.index); });
}

Tensor TensorArray::Impl::Write::of(const Tensor& value) const {
  if (part == Part::Whole) return value;
  return part == Part::Row ? row_of(value, lo) : rows_of(value, lo, hi);
}

Status TensorArray::Impl::write_locked(const Tensor& value, Write& write, const Context& context, Released& released) {
  BACKSLICE_RETURN_IF_ERROR(check_open());
  BACKSLICE_RETURN_IF_ERROR(check_range(write.index));
  write.slot = &slots_[write.index];
  const std::lock_guard lock(write.slot->mutex);
  BACKSLICE_RETURN_IF_ERROR(check_write(*write.slot, write.index, value.shape(), element_shape_));
  const bool fixes_shape = options_.identical_element_shapes && !element_shape_.full();
  const PartialShape element_shape = fixes_shape ? element_shape_.merged_with(value.shape()) : PartialShape();
  Slot& slot = *write.slot;
  if (block_ || slot.terms.size() == kMaxTerms) return store(value, {&write, 1}, element_shape, context, released);
  slot.terms.push_back(value);  // only this can fail, and it comes first
  slot.mark_written(value.shape());
  commit_structure({&write, 1}, element_shape);
  return Status();
}

Status TensorArray::Impl::write_all(const Tensor& value, std::span<Write> writes, const Context& context) {
  Released released;
  return holding_mutex([&] { return changes_structure(writes); },
                       [&] { return write_locked(value, writes, context, released); });
}

Status TensorArray::Impl::write_locked(const Tensor& value, std::span<Write> writes, const Context& context,
                                       Released& released) {
  BACKSLICE_RETURN_IF_ERROR(check_open());
  if (writes.empty()) return Status();
  std::vector<std::int64_t> indices;
  indices.reserve(writes.size());
  for (const Write& write : writes) {
    BACKSLICE_RETURN_IF_ERROR(check_range(write.index));
    indices.push_back(write.index);
  }
  const TaskRunner runner = Call(context).tasks;
  Locked slots(*this, indices, runner);
  PartialShape element_shape = element_shape_;
  Shape shape = writes[0].of(value).shape();
  for (std::size_t i = 0; i < writes.size(); ++i) {
    runner.throw_if_cancelled_at(static_cast<std::int64_t>(i));
    if (writes[i].part != Write::Part::Row) shape = writes[i].of(value).shape();  // rows are all of one
    BACKSLICE_RETURN_IF_ERROR(check_write(slots[i], writes[i].index, shape, element_shape));
    if (options_.identical_element_shapes) element_shape = element_shape.merged_with(shape);
    writes[i].slot = &slots[i];
  }
  if (slots.has_duplicates()) {
    BACKSLICE_RETURN_IF_ERROR(check_duplicates(value, writes));
    std::stable_sort(writes.begin(), writes.end(), [](const Write& a, const Write& b) { return a.index < b.index; });
  }
  return store(value, writes, element_shape, context, released);
}

Status TensorArray::Impl::check_range(std::int64_t index) const {
  if (index >= 0 && index < size_) return Status();
  if (index >= 0 && options_.dynamic_size) {
    if (index < kMaxSize) return Status();
    return invalid_argument(prefix(), "Tried to write to index ", index, ", past the largest, ", kMaxSize - 1);
  }
  return invalid_argument(prefix(), "Tried to write to index ", index,
                          " but array is not resizeable and size is: ", size_);
}

Status TensorArray::Impl::check_write(const Slot& slot, std::int64_t index, const Shape& shape,
                                      const PartialShape& element_shape) const {
  const auto could_not = [&](const auto&... why) {
    return invalid_argument(prefix(), "Could not write to TensorArray index ", index, " because ", why...);
  };
  if (!element_shape.is_compatible_with(shape)) {
    return could_not("the value shape is ", Ints(shape), " which is incompatible with the TensorArray's inferred ",
                     "element shape: ", element_shape.to_string());
  }
  if (slot.read || all_read_) return could_not("it has already been read.");
  if (!slot.written) return Status();
  if (!is_gradient_) return could_not("it has already been written to.");
  if (!(slot.shape == shape)) {
    return invalid_argument(prefix(), "Could not aggregate to TensorArray index ", index,
                            " because the existing shape is ", Ints(slot.shape), " but the new input shape is ",
                            Ints(shape));
  }
  if (!slot.terms.empty() && !can_add(dtype_)) {
    return dtype_error(prefix(), "Could not aggregate to TensorArray index ", index, " because elements of dtype ",
                       backslice::name(dtype_), " cannot be added");
  }
  return Status();
}

Status TensorArray::Impl::check_duplicates(const Tensor& value, std::span<const Write> writes) const {
  std::unordered_map<std::int64_t, const Write*> first;
  for (const Write& write : writes) {
    const auto [found, is_new] = first.emplace(write.index, &write);
    if (is_new) continue;
    Slot after;
    after.written = true;
    after.terms = {found->second->of(value)};
    after.shape = after.terms[0].shape();
    BACKSLICE_RETURN_IF_ERROR(check_write(after, write.index, write.of(value).shape(), {}));
  }
  return Status();
}

Status TensorArray::Impl::Prepared::take_memory(const Impl& array, const Tensor& value, const Context& context) {
  std::vector<Tensor>& held = writes_[0].slot->terms;
  const std::size_t count = held.size() + writes_.size();
  if (count <= kMaxTerms) {
    if (count > held.capacity()) held.reserve(std::max(count, std::min(2 * held.size(), kMaxTerms)));
    return Status();
  }
  std::vector<Tensor> terms = held;
  for (const Write& write : writes_) {
    array.append_stored(terms, value, write);
    if (terms.size() <= kMaxTerms) continue;
    auto sum = sum_of({terms[0].shape(), terms}, array.dtype_, array.item_size_, Call(context));
    if (!sum.ok()) return sum.status();
    terms = {*std::move(sum)};
  }
  terms_ = std::move(terms);
  return Status();
}

std::vector<Tensor> TensorArray::Impl::Prepared::commit(const Impl& array, const Tensor& value) noexcept {
  Slot& slot = *writes_[0].slot;
  if (terms_.empty()) {
    for (const Write& write : writes_) array.append_stored(slot.terms, value, write);
  } else {
    slot.terms.swap(terms_);
  }
  slot.mark_written(slot.terms[0].shape());
  return std::move(terms_);
}

TensorArray::Impl::BlockRows::~BlockRows() {
  for (const Tensor& row : begun_) {
    const ConstView view = row.view();
    std::fill_n(const_cast<std::byte*>(view.data), view.elements() * view.layout.item_size, std::byte{0});
  }
}

void TensorArray::Impl::BlockRows::write(const Tensor& value, const Write& write, const Call& call) {
  Tensor row = row_of(*array_.block_, write.index);
  begun_.push_back(row);
  copy_into(row.view(), write.of(value).view(), call);
}

Status TensorArray::Impl::store(const Tensor& value, std::span<const Write> writes, const PartialShape& element_shape,
                                const Context& context, Released& released) {
  const Call call(context);
  BlockRows rows(*this, block_ ? writes.size() : 0);
  for (std::size_t i = 0; block_ && i < writes.size(); ++i) {
    call.tasks.throw_if_cancelled_at(static_cast<std::int64_t>(i));
    rows.write(value, writes[i], call);
  }
  const auto commit_all = [&](std::span<Prepared> prepared) -> Status {
    std::int64_t step = 0;
    for (Prepared& one : prepared) {
      call.tasks.throw_if_cancelled_at(step++);
      BACKSLICE_RETURN_IF_ERROR(one.take_memory(*this, value, context));
    }
    released.reserve(prepared.size());
    call.tasks.throw_if_cancelled();
    // From here on nothing can fail.
    rows.keep();
    for (Prepared& one : prepared) released.push_back(one.commit(*this, value));
    commit_structure(writes, element_shape);
    return Status();
  };
  if (writes.size() == 1) {
    Prepared only(writes);
    return commit_all({&only, 1});
  }
  std::vector<Prepared> prepared;
  prepared.reserve(writes.size());
  for (std::size_t i = 0, end = 0; i < writes.size(); i = end) {
    while (end < writes.size() && writes[end].index == writes[i].index) ++end;
    prepared.emplace_back(writes.subspan(i, end - i));
  }
  return commit_all(prepared);
}

// Assigns only what changes: where nothing does, mutex_ is held shared.
void TensorArray::Impl::commit_structure(std::span<const Write> writes, const PartialShape& element_shape) noexcept {
  if (options_.identical_element_shapes && !element_shape_.full()) element_shape_ = element_shape;
  for (const Write& write : writes) {
    if (write.index >= size_) size_ = write.index + 1;
  }
}

}  // namespace backslice
