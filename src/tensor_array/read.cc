// TensorArray: reading elements, one or many. What is read may count as read, or be cleared, afterwards.
#include <numeric>
#include <utility>

#include "tensor_array/impl.h"

namespace backslice {

template <class Body>
Result<Tensor> TensorArray::Impl::with_elements(Ints indices, const PartialShape& given, const Context& context,
                                                const Body& body) {
  const auto changes = [&] {
    return given.has_rank() || std::any_of(indices.begin(), indices.end(), [&](auto i) { return i >= size_; });
  };
  Released released;
  return holding_mutex(changes, [&] { return read_locked(indices, given, context, released, body); });
}

template <class Body>
Result<Tensor> TensorArray::Impl::read_locked(Ints indices, const PartialShape& given, const Context& context,
                                              Released& released, const Body& body) {
  BACKSLICE_RETURN_IF_ERROR(check_open());
  const auto merged = merged_shape(given);
  if (!merged.ok()) return merged.status();
  for (std::int64_t index : indices) BACKSLICE_RETURN_IF_ERROR(check_read_range(index));
  const TaskRunner runner = Call(context).tasks;
  Locked slots(*this, indices, runner);
  std::vector<Element> elements;
  elements.reserve(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    runner.throw_if_cancelled_at(static_cast<std::int64_t>(i));
    auto element = element_of(slots[i], indices[i], *merged);
    if (!element.ok()) return element.status();
    elements.push_back(*std::move(element));
  }
  if (slots.has_duplicates() && options_.clear_after_read) {
    std::vector<std::int64_t> sorted(indices.begin(), indices.end());
    std::sort(sorted.begin(), sorted.end());
    const std::int64_t twice = *std::adjacent_find(sorted.begin(), sorted.end());
    Slot after;
    after.cleared = true;
    return element_of(after, twice, *merged).status();
  }
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (merged->is_compatible_with(elements[i].shape)) continue;
    return invalid_argument(prefix(), "the element at index ", indices[i], " has shape ", Ints(elements[i].shape),
                            ", which does not fit the element shape that was given, ", merged->to_string());
  }
  if (options_.clear_after_read) released.reserve(indices.size());
  Result<Tensor> result = body(elements);
  if (!result.ok()) return result;

  // From here on nothing can fail. Only what changes is assigned: where nothing does, mutex_ is held shared.
  if (given.has_rank()) element_shape_ = *merged;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= size_) size_ = indices[i] + 1;
    slots[i].read = true;
    if (!options_.clear_after_read) continue;
    slots[i].cleared = true;
    released.push_back(std::exchange(slots[i].terms, {}));
    any_cleared_ = true;
  }
  return result;
}

Result<Tensor> TensorArray::Impl::read(std::int64_t index, const Context& context) {
  return with_elements({&index, 1}, {}, context, [&](std::span<const Element> elements) {
    return sum_of(elements[0], dtype_, item_size_, Call(context));
  });
}

Result<Tensor> TensorArray::Impl::gather(Ints indices, const PartialShape& element_shape, const Context& context) {
  if (indices.empty()) return empty_gather(element_shape, context);
  return with_elements(indices, element_shape, context, [&](std::span<const Element> elements) -> Result<Tensor> {
    const Shape& first = elements[0].shape;
    for (std::size_t i = 1; i < elements.size(); ++i) {
      if (elements[i].shape == first) continue;
      return invalid_argument(prefix(), "Could not gather: the element at index ", indices[0], " has shape ",
                              Ints(first), ", the element at index ", indices[i], " has shape ",
                              Ints(elements[i].shape));
    }
    return joined(elements, static_cast<std::int64_t>(elements.size()), first, context);
  });
}

Result<Tensor> TensorArray::Impl::stack(const Context& context) {
  std::vector<std::int64_t> indices;
  {
    const std::unique_lock lock(mutex_);
    BACKSLICE_RETURN_IF_ERROR(check_open());
    if (block_ && !any_cleared_ && !all_read_) {
      all_read_ = true;
      return *block_;
    }
    if (block_ && all_read_ && !options_.clear_after_read) return *block_;
    auto all = indices_up_to(size_, "stacked");
    if (!all.ok()) return all.status();
    indices = *std::move(all);
  }
  return gather(indices, {}, context);
}

Result<TensorArray::Concatenated> TensorArray::Impl::concat(const PartialShape& element_shape_except0,
                                                            const Context& context) {
  Result<std::vector<std::int64_t>> indices = [&]() -> Result<std::vector<std::int64_t>> {
    const std::shared_lock lock(mutex_);
    BACKSLICE_RETURN_IF_ERROR(check_open());
    return indices_up_to(size_, "concatenated");
  }();
  if (!indices.ok()) return indices.status();
  if (indices->empty()) {
    auto nothing = empty_concat(element_shape_except0, context);
    if (!nothing.ok()) return nothing.status();
    return Concatenated{*std::move(nothing), {}};
  }
  std::vector<std::int64_t> lengths;
  auto value = with_elements(*indices, {}, context, [&](std::span<const Element> elements) -> Result<Tensor> {
    auto rows = rows_of_all(elements, element_shape_except0);
    if (!rows.ok()) return rows.status();
    lengths = std::move(rows->lengths);
    return joined(elements, rows->total, rows->inner, context);
  });
  if (!value.ok()) return value.status();
  return Concatenated{*std::move(value), std::move(lengths)};
}

Result<TensorArray::Impl::Rows> TensorArray::Impl::rows_of_all(std::span<const Element> elements,
                                                               const PartialShape& element_shape_except0) const {
  Rows rows;
  rows.lengths.reserve(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Shape& shape = elements[i].shape;
    if (shape.rank() == 0) {
      return invalid_argument(prefix(), "Concat saw a scalar shape at index ", i,
                              " but requires at least vectors.  Did you mean to call pack?");
    }
    Dims own;
    for (int axis = 1; axis < shape.rank(); ++axis) own.push_back(shape[axis]);
    if (i == 0) rows.inner = own;
    if (!(own == rows.inner)) {
      return invalid_argument(prefix(),
                              "Could not concat: elements must agree but for their first dim; the element "
                              "at index 0 has shape ",
                              Ints(elements[0].shape), ", the element at index ", i, " has shape ", Ints(shape));
    }
    const auto without_first = PartialShape::make(own);
    if (!element_shape_except0.is_compatible_with(*without_first)) {
      return invalid_argument(prefix(), "element_shape_except0 is ", element_shape_except0.to_string(),
                              ", but the element at index ", i, " has (without its first dim) shape ",
                              without_first->to_string());
    }
    if (__builtin_add_overflow(rows.total, shape[0], &rows.total)) {
      return invalid_argument(prefix(), "Could not concat: more than 2**63 - 1 rows");
    }
    rows.lengths.push_back(shape[0]);
  }
  return rows;
}

Result<std::vector<std::int64_t>> TensorArray::Impl::indices_up_to(std::int64_t count, const char* done) const {
  constexpr std::int64_t kMostAtOnce = 1 << 27;
  if (count > kMostAtOnce) {
    return resource_exhausted(prefix(), count, " elements are too many to be ", done, " at once");
  }
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

Status TensorArray::Impl::check_read_range(std::int64_t index) const {
  if (index >= 0 && (index < size_ || (is_gradient_ && index < kMaxSize))) return Status();
  return invalid_argument(prefix(), "Tried to read from index ", index, " but array size is: ", size_);
}

Result<Element> TensorArray::Impl::element_of(const Slot& slot, std::int64_t index,
                                              const PartialShape& element_shape) const {
  if (slot.cleared || (all_read_ && options_.clear_after_read)) {
    return invalid_argument(prefix(), "Could not read index ", index,
                            " twice because it was cleared after a previous read (perhaps try setting "
                            "clear_after_read = false?)");
  }
  if (slot.written) return Element{slot.shape, slot.terms};
  const auto shape = element_shape.full();
  if (!shape) {
    BACKSLICE_RETURN_IF_ERROR(check_product(element_shape, "element_shape"));
    return invalid_argument(
        prefix(), "Could not read index ", index,
        ": it has not been written, and the element shape is not fully defined: ", element_shape.to_string());
  }
  return Element{*shape, {}};
}

Result<PartialShape> TensorArray::Impl::merged_shape(const PartialShape& given) const {
  if (element_shape_.is_compatible_with(given)) return element_shape_.merged_with(given);
  return invalid_argument(prefix(), "the element shape that was given, ", given.to_string(),
                          ", does not fit the array's element shape, ", element_shape_.to_string());
}

Result<Tensor> TensorArray::Impl::joined(std::span<const Element> elements, std::int64_t count, Ints inner,
                                         const Context& context) const {
  const auto shape = stacked_shape(count, inner);
  if (!shape.ok()) return invalid_argument(prefix(), shape.status().message());
  return join_elements(elements, *shape, dtype_, item_size_, Call(context));
}

Result<Tensor> TensorArray::Impl::empty_of(const PartialShape& element_shape, const char* needed,
                                           const Context& context) const {
  const Ints dims = element_shape.has_rank() ? element_shape.dims() : Ints();
  if (!element_shape.has_rank() || std::find(dims.begin(), dims.end(), PartialShape::kUnknown) != dims.end()) {
    return unimplemented(prefix(), needed, ", got ", element_shape.to_string());
  }
  return joined({}, 0, dims, context);
}

Result<Tensor> TensorArray::Impl::empty_gather(const PartialShape& element_shape, const Context& context) {
  const std::unique_lock lock(mutex_);
  BACKSLICE_RETURN_IF_ERROR(check_open());
  const auto merged = merged_shape(element_shape);
  if (!merged.ok()) return merged.status();
  auto result = empty_of(*merged, "gather of no elements needs a fully defined element shape", context);
  if (result.ok()) element_shape_ = *merged;
  return result;
}

constexpr const char* kConcatNeeds =
    "concat of no elements needs an element shape whose extents after the first are defined";

Result<Tensor> TensorArray::Impl::empty_concat(const PartialShape& element_shape_except0,
                                               const Context& context) const {
  const std::shared_lock lock(mutex_);
  if (!element_shape_.has_rank()) return empty_of(element_shape_except0, kConcatNeeds, context);
  const Ints dims = element_shape_.dims();
  if (dims.empty()) {
    return invalid_argument(prefix(), "Concat requires elements that are at least vectors, but the element shape is ",
                            element_shape_.to_string());
  }
  const auto own = PartialShape::make(dims.subspan(1));
  if (!own.ok()) return own.status();
  if (!own->is_compatible_with(element_shape_except0)) {
    return invalid_argument(prefix(), "element_shape_except0 is ", element_shape_except0.to_string(),
                            ", but the array's element shape is ", element_shape_.to_string());
  }
  return empty_of(own->merged_with(element_shape_except0), kConcatNeeds, context);
}

}  // namespace backslice
