// TensorArray: writing elements. An operation locks its slots, checks everything, and only then changes anything.
#include <numeric>
#include <unordered_map>

#include "backslice/slice.h"
#include "containers/tensor_array_impl.h"

namespace backslice {

Status TensorArray::Impl::write(std::int64_t index, const Tensor& value) {
  BACKSLICE_RETURN_IF_ERROR(check_dtype(value));
  return holding_mutex([&] { return changes_structure(index); }, [&] { return write_locked(index, value); });
}

Status TensorArray::Impl::scatter(Ints indices, const Tensor& value) {
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
  for (std::size_t i = 0; i < indices.size(); ++i) {
    writes.push_back({indices[i], row_of(value, static_cast<std::int64_t>(i))});
  }
  return write_all(writes);
}

Status TensorArray::Impl::unstack(const Tensor& value) {
  if (value.shape().rank() < 1) {
    return invalid_argument(prefix(), "the value to unstack must have a row for each index, got a scalar");
  }
  std::vector<std::int64_t> indices(static_cast<std::size_t>(value.shape()[0]));
  std::iota(indices.begin(), indices.end(), 0);
  return scatter(indices, value);
}

Status TensorArray::Impl::split(const Tensor& value, Ints lengths) {
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
  std::int64_t row = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    writes.push_back({static_cast<std::int64_t>(i), rows_of(value, row, row + lengths[i])});
    row += lengths[i];
  }
  return write_all(writes);
}

bool TensorArray::Impl::changes_structure(std::int64_t index) const {
  return index >= size_ || (options_.identical_element_shapes && !element_shape_.full());
}

bool TensorArray::Impl::changes_structure(std::span<const Write> writes) const {
  return std::any_of(writes.begin(), writes.end(), [&](const Write& w) { return changes_structure(w.index); });
}

Status TensorArray::Impl::write_locked(std::int64_t index, const Tensor& value) {
  BACKSLICE_RETURN_IF_ERROR(check_open());
  BACKSLICE_RETURN_IF_ERROR(check_range(index));
  Slot& slot = slots_[index];
  const std::lock_guard lock(slot.mutex);
  BACKSLICE_RETURN_IF_ERROR(check_write(slot, index, value.shape(), element_shape_));
  if (options_.identical_element_shapes && !element_shape_.full()) {
    element_shape_ = element_shape_.merged_with(value.shape());
  }
  if (index >= size_) size_ = index + 1;
  return store(slot, index, value);
}

Status TensorArray::Impl::write_all(std::span<const Write> writes) {
  return holding_mutex([&] { return changes_structure(writes); }, [&] { return write_locked(writes); });
}

Status TensorArray::Impl::write_locked(std::span<const Write> writes) {
  BACKSLICE_RETURN_IF_ERROR(check_open());
  if (writes.empty()) return Status();
  std::vector<std::int64_t> indices;
  for (const Write& write : writes) {
    BACKSLICE_RETURN_IF_ERROR(check_range(write.index));
    indices.push_back(write.index);
  }
  Locked slots(*this, indices);
  PartialShape element_shape = element_shape_;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    BACKSLICE_RETURN_IF_ERROR(check_write(slots[i], writes[i].index, writes[i].value.shape(), element_shape));
    if (options_.identical_element_shapes) element_shape = element_shape.merged_with(writes[i].value.shape());
  }
  if (slots.has_duplicates()) BACKSLICE_RETURN_IF_ERROR(check_duplicates(writes));

  // All is well; from here on things change.
  if (options_.identical_element_shapes && !element_shape_.full()) element_shape_ = element_shape;
  grow_to(indices);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    BACKSLICE_RETURN_IF_ERROR(store(slots[i], writes[i].index, writes[i].value));
  }
  return Status();
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

Status TensorArray::Impl::check_duplicates(std::span<const Write> writes) const {
  std::unordered_map<std::int64_t, const Write*> first;
  for (const Write& write : writes) {
    const auto [found, is_new] = first.emplace(write.index, &write);
    if (is_new) continue;
    Slot after;
    after.written = true;
    after.shape = found->second->value.shape();
    after.terms = {found->second->value};
    BACKSLICE_RETURN_IF_ERROR(check_write(after, write.index, write.value.shape(), {}));
  }
  return Status();
}

Status TensorArray::Impl::store(Slot& slot, std::int64_t index, const Tensor& value) {
  if (block_) {
    const Tensor row = row_of(*block_, index);
    View to{const_cast<std::byte*>(row.view().data), dtype_, row.view().layout};
    BACKSLICE_RETURN_IF_ERROR(slice_into(Selection::all(row.shape()), value.view(), to, {.executor = &executor()}));
    slot.terms = {row};
  } else {
    slot.terms.push_back(value);
  }
  slot.shape = value.shape();
  slot.written = true;
  if (slot.terms.size() > kMaxTerms) {
    auto sum = sum_of({slot.shape, slot.terms}, dtype_, item_size_, executor());
    if (!sum.ok()) {
      slot.terms.pop_back();
      return sum.status();
    }
    slot.terms = {*std::move(sum)};
  }
  return Status();
}

}  // namespace backslice
