#include "backslice/tensor_array.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <unordered_map>

#include "containers/elements.h"
#include "containers/slot_table.h"
#include "core/errors.h"
#include "ops/checks.h"

namespace backslice {
namespace {

constexpr std::int64_t kMaxSize = std::numeric_limits<std::int32_t>::max();  // TensorFlow's indices are int32

struct Write {
  std::int64_t index;
  Tensor value;
};

}  // namespace

// Two kinds of locks. `mutex_` guards what operations on elements only look at (size, closed, element shape): they hold
// it shared, and the few that change it hold it alone. Each slot has its own; those of one operation are locked in the
// order of their indices, so that no two operations wait for each other.
class TensorArray::Impl {
 public:
  Impl(std::int64_t size, DType dtype, const TensorArrayOptions& options)
      : dtype_(dtype),
        item_size_(dtype == DType::Bytes ? options.item_size : backslice::item_size(dtype)),
        options_(options),
        element_shape_(options.element_shape),
        size_(size) {}

  Status preallocate() {
    const auto shape = element_shape_.full();
    if (!shape || options_.dynamic_size) {
      return invalid_argument(prefix(), "contiguous needs a full element_shape and a fixed size, got ",
                              element_shape_.to_string(), options_.dynamic_size ? " and dynamic_size" : "");
    }
    if (dtype_ == DType::String || !has_zero(dtype_)) {
      return dtype_error(prefix(), "contiguous does not take elements of dtype ", backslice::name(dtype_));
    }
    const auto all = stacked_shape(size_, *shape);
    if (!all.ok()) return invalid_argument(prefix(), all.status().message());
    auto block = Tensor::make(dtype_, *all, item_size_, Contents::Zero);
    if (!block.ok()) return block.status();
    block_ = *std::move(block);
    return Status();
  }

  Status write(std::int64_t index, const Tensor& value) {
    BACKSLICE_RETURN_IF_ERROR(check_dtype(value));
    return holding_mutex([&] { return changes_structure(index); }, [&] { return write_locked(index, value); });
  }

  Status scatter(Ints indices, const Tensor& value) {
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

  Status unstack(const Tensor& value) {
    if (value.shape().rank() < 1) {
      return invalid_argument(prefix(), "the value to unstack must have a row for each index, got a scalar");
    }
    std::vector<std::int64_t> indices(static_cast<std::size_t>(value.shape()[0]));
    std::iota(indices.begin(), indices.end(), 0);
    return scatter(indices, value);
  }

  Status split(const Tensor& value, Ints lengths) {
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
      return invalid_argument(prefix(),
                              "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is ", sum,
                              " and value's shape is: ", Ints(value.shape()));
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

  Result<Tensor> read(std::int64_t index) {
    return with_elements({&index, 1}, {}, [&](std::span<const Element> elements) {
      return sum_of(elements[0], dtype_, item_size_, executor());
    });
  }

  Result<Tensor> gather(Ints indices, const PartialShape& element_shape) {
    if (indices.empty()) return empty_gather(element_shape);
    return with_elements(indices, element_shape, [&](std::span<const Element> elements) -> Result<Tensor> {
      const Shape& first = elements[0].shape;
      for (std::size_t i = 1; i < elements.size(); ++i) {
        if (elements[i].shape == first) continue;
        return invalid_argument(prefix(), "Could not gather: the element at index ", indices[0], " has shape ",
                                Ints(first), ", the element at index ", indices[i], " has shape ",
                                Ints(elements[i].shape));
      }
      return joined(elements, static_cast<std::int64_t>(elements.size()), first);
    });
  }

  Result<Tensor> stack() {
    std::vector<std::int64_t> indices;
    PartialShape element_shape;
    {
      const std::unique_lock lock(mutex_);
      BACKSLICE_RETURN_IF_ERROR(check_open());
      if (block_ && !any_cleared_ && !all_read_) {
        all_read_ = true;
        return *block_;
      }
      if (block_ && all_read_ && !options_.clear_after_read) return *block_;
      if (size_ > (1 << 27)) {
        return resource_exhausted(prefix(), "an array of ", size_, " elements is too long to be stacked at once");
      }
      indices.resize(static_cast<std::size_t>(size_));
      if (size_ == 0) element_shape = element_shape_;
    }
    std::iota(indices.begin(), indices.end(), 0);
    return gather(indices, element_shape);
  }

  Result<Concatenated> concat(const PartialShape& element_shape_except0) {
    std::vector<std::int64_t> indices;
    {
      const std::shared_lock lock(mutex_);
      BACKSLICE_RETURN_IF_ERROR(check_open());
      if (size_ > (1 << 27)) {
        return resource_exhausted(prefix(), "an array of ", size_, " elements is too long to be concatenated at once");
      }
      indices.resize(static_cast<std::size_t>(size_));
    }
    std::iota(indices.begin(), indices.end(), 0);
    if (indices.empty()) {
      auto nothing = empty_of(element_shape_except0, "concat");
      if (!nothing.ok()) return nothing.status();
      return Concatenated{*std::move(nothing), {}};
    }
    std::vector<std::int64_t> lengths;
    auto value = with_elements(indices, {}, [&](std::span<const Element> elements) -> Result<Tensor> {
      std::int64_t rows = 0;
      Dims trailing;
      for (std::size_t i = 0; i < elements.size(); ++i) {
        const Shape& shape = elements[i].shape;
        if (shape.rank() == 0) {
          return invalid_argument(prefix(), "Concat saw a scalar shape at index ", i,
                                  " but requires at least vectors.  Did you mean to call pack?");
        }
        Dims own;
        for (int axis = 1; axis < shape.rank(); ++axis) own.push_back(shape[axis]);
        if (i == 0) trailing = own;
        if (!(own == trailing)) {
          return invalid_argument(prefix(),
                                  "Could not concat: elements must agree but for their first dim; the element "
                                  "at index 0 has shape ",
                                  Ints(elements[0].shape), ", the element at index ", i, " has shape ", Ints(shape));
        }
        const auto trailing_shape = PartialShape::make(own);
        if (!element_shape_except0.is_compatible_with(*trailing_shape)) {
          return invalid_argument(prefix(), "element_shape_except0 is ", element_shape_except0.to_string(),
                                  ", but the element at index ", i, " has (without its first dim) shape ",
                                  trailing_shape->to_string());
        }
        if (__builtin_add_overflow(rows, shape[0], &rows)) {
          return invalid_argument(prefix(), "Could not concat: more than 2**63 - 1 rows");
        }
        lengths.push_back(shape[0]);
      }
      const auto inner = Shape::make(trailing);
      if (!inner.ok()) return inner.status();
      return joined(elements, rows, *inner);
    });
    if (!value.ok()) return value.status();
    return Concatenated{*std::move(value), std::move(lengths)};
  }

  Result<std::int64_t> size() const {
    const std::shared_lock lock(mutex_);
    BACKSLICE_RETURN_IF_ERROR(check_open());
    return size_;
  }

  void close() {
    // Let go of outside the lock: what is held may have owners that take their time.
    SlotTable slots;
    std::map<std::string, std::shared_ptr<Impl>> gradients;
    std::optional<Tensor> block;
    const std::unique_lock lock(mutex_);
    closed_ = true;
    slots.swap(slots_);
    gradients.swap(gradients_);
    block.swap(block_);
  }

  Result<std::shared_ptr<Impl>> grad(const std::string& source, Ints shape_to_prepend) {
    const auto prepend = Shape::make(shape_to_prepend, "shape_to_prepend");
    if (!prepend.ok()) return prepend.status();
    if (is_gradient_) {
      return invalid_argument(prefix(),
                              "Wrong input container: this is a gradient array already, and a gradient of a "
                              "gradient array cannot be made");
    }
    const std::unique_lock lock(mutex_);
    BACKSLICE_RETURN_IF_ERROR(check_open());
    if (const auto made = gradients_.find(source); made != gradients_.end()) return made->second;
    const auto shape = element_shape_.prepended(*prepend);
    if (!shape.ok()) return shape.status();
    BACKSLICE_RETURN_IF_ERROR(check_product(*shape));
    TensorArrayOptions options = options_;
    options.element_shape = *shape;
    options.dynamic_size = options.contiguous = false;
    options.clear_after_read = true;
    options.name = name() + "@" + source;
    auto gradient = std::make_shared<Impl>(size_, dtype_, options);
    gradient->is_gradient_ = true;
    Status status;
    slots_.for_each_written([&](std::int64_t index, const Slot& slot) {
      auto shape_of_slot = PartialShape(slot.shape).prepended(*prepend);
      const auto full = shape_of_slot.ok() ? Shape::make(shape_of_slot->dims(), "the gradient's element shape")
                                           : Result<Shape>(shape_of_slot.status());
      if (!full.ok()) {
        status = full.status();
        return;
      }
      Slot& own = gradient->slots_[index];
      own.shape = *full;
      own.written = true;
    });
    if (!status.ok()) return status;
    options_.dynamic_size = false;
    gradients_.emplace(source, gradient);
    return gradient;
  }

  std::shared_ptr<Impl> find_grad(const std::string& source) const {
    const std::shared_lock lock(mutex_);
    const auto made = gradients_.find(source);
    return made == gradients_.end() ? nullptr : made->second;
  }

  const std::string& name() const { return options_.name; }
  DType dtype() const { return dtype_; }
  bool is_gradient() const { return is_gradient_; }
  bool is_closed() const {
    const std::shared_lock lock(mutex_);
    return closed_;
  }
  PartialShape element_shape() const {
    const std::shared_lock lock(mutex_);
    return element_shape_;
  }

 private:
  std::string title() const { return name().empty() ? "TensorArray" : "TensorArray " + name(); }
  std::string prefix() const { return title() + ": "; }

  Executor& executor() const { return options_.executor != nullptr ? *options_.executor : default_executor(); }

  Status check_open() const {
    if (!closed_) return Status();
    return invalid_argument(title(), " has already been closed.");
  }

  Status check_dtype(const Tensor& value) const {
    if (value.dtype() != dtype_) {
      return dtype_error(prefix(), "dtype is ", backslice::name(dtype_), " but a value of dtype ",
                         backslice::name(value.dtype()), " was written");
    }
    if (value.view().layout.item_size == item_size_) return Status();
    return dtype_error(prefix(), "items have ", item_size_, " bytes but a value with items of ",
                       value.view().layout.item_size, " was written");
  }

  Status check_product(const PartialShape& shape) const {
    if (!shape.has_rank()) return Status();
    for (std::int64_t dim : shape.dims()) {
      if (dim == PartialShape::kUnknown) return Status();
    }
    return Shape::make(shape.dims(), "shape_to_prepend with the element shape").status();
  }

  // The slots of indices, locked in the order of the indices, each once.
  class Locked {
   public:
    Locked(Impl& array, std::span<const std::int64_t> indices) {
      std::vector<std::pair<std::int64_t, Slot*>> sorted;
      for (std::int64_t index : indices) {
        slots_.push_back(&array.slots_[index]);
        sorted.push_back({index, slots_.back()});
      }
      std::sort(sorted.begin(), sorted.end());
      sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
      has_duplicates_ = sorted.size() < slots_.size();
      for (const auto& [index, slot] : sorted) order_.push_back(slot);
      for (Slot* slot : order_) slot->mutex.lock();
    }
    ~Locked() {
      for (Slot* slot : order_) slot->mutex.unlock();
    }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

    Slot& operator[](std::size_t i) { return *slots_[i]; }
    bool has_duplicates() const { return has_duplicates_; }

   private:
    std::vector<Slot*> slots_, order_;
    bool has_duplicates_ = false;
  };

  // Runs `body` with mutex_ held: shared where it changes nothing that mutex_ guards, else alone. What `changes` says
  // is asked under the lock; when the lock must be changed, `body` still checks everything itself.
  template <class Changes, class Body>
  auto holding_mutex(const Changes& changes, const Body& body) -> decltype(body()) {
    {
      const std::shared_lock lock(mutex_);
      if (!changes()) return body();
    }
    const std::unique_lock lock(mutex_);
    return body();
  }

  // Assigns only what changes: where nothing does, the lock is shared.
  void grow_to(Ints indices) {
    const std::int64_t needed = *std::max_element(indices.begin(), indices.end()) + 1;
    if (needed > size_) size_ = needed;
  }

  // -- Writing

  bool changes_structure(std::int64_t index) const {
    return index >= size_ || (options_.identical_element_shapes && !element_shape_.full());
  }
  bool changes_structure(std::span<const Write> writes) const {
    return std::any_of(writes.begin(), writes.end(), [&](const Write& w) { return changes_structure(w.index); });
  }

  // With mutex_ held: alone if it changes the structure, else shared.
  Status write_locked(std::int64_t index, const Tensor& value) {
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

  Status write_all(std::span<const Write> writes) {
    return holding_mutex([&] { return changes_structure(writes); }, [&] { return write_locked(writes); });
  }

  Status check_range(std::int64_t index) const {
    if (index >= 0 && index < size_) return Status();
    if (index >= 0 && options_.dynamic_size) {
      if (index < kMaxSize) return Status();
      return invalid_argument(prefix(), "Tried to write to index ", index, ", past the largest, ", kMaxSize - 1);
    }
    return invalid_argument(prefix(), "Tried to write to index ", index,
                            " but array is not resizeable and size is: ", size_);
  }

  Status check_write(const Slot& slot, std::int64_t index, const Shape& shape,
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

  // Writes of one call to the same index: an error in forward arrays, and sums must agree in shape.
  Status check_duplicates(std::span<const Write> writes) const {
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

  // With mutex_ held: alone if changes_structure, else shared.
  Status write_locked(std::span<const Write> writes) {
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

  Status store(Slot& slot, std::int64_t index, const Tensor& value) {
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

  // -- Reading

  Status check_read_range(std::int64_t index) const {
    if (index >= 0 && (index < size_ || (is_gradient_ && index < kMaxSize))) return Status();
    return invalid_argument(prefix(), "Tried to read from index ", index, " but array size is: ", size_);
  }

  // What reading the slot gives, without changing it.
  Result<Element> element_of(const Slot& slot, std::int64_t index, const PartialShape& element_shape) const {
    if (slot.cleared || (all_read_ && options_.clear_after_read)) {
      return invalid_argument(prefix(), "Could not read index ", index,
                              " twice because it was cleared after a previous read (perhaps try setting "
                              "clear_after_read = false?)");
    }
    if (slot.written) return Element{slot.shape, slot.terms};
    const auto shape = element_shape.full();
    if (!shape) {
      return invalid_argument(
          prefix(), "Could not read index ", index,
          ": it has not been written, and the element shape is not fully defined: ", element_shape.to_string());
    }
    return Element{*shape, {}};
  }

  // Reads the elements: all checks, then `body` makes the result of them, then they count as read. A shape that is
  // given becomes the array's.
  template <class Body>
  Result<Tensor> with_elements(Ints indices, const PartialShape& given, const Body& body) {
    const auto changes = [&] {
      return given.has_rank() || std::any_of(indices.begin(), indices.end(), [&](auto i) { return i >= size_; });
    };
    return holding_mutex(changes, [&] { return read_locked(indices, given, body); });
  }

  Result<PartialShape> merged_shape(const PartialShape& given) const {
    if (element_shape_.is_compatible_with(given)) return element_shape_.merged_with(given);
    return invalid_argument(prefix(), "the element shape that was given, ", given.to_string(),
                            ", does not fit the array's element shape, ", element_shape_.to_string());
  }

  template <class Body>
  Result<Tensor> read_locked(Ints indices, const PartialShape& given, const Body& body) {
    BACKSLICE_RETURN_IF_ERROR(check_open());
    const auto merged = merged_shape(given);
    if (!merged.ok()) return merged.status();
    for (std::int64_t index : indices) BACKSLICE_RETURN_IF_ERROR(check_read_range(index));
    Locked slots(*this, indices);
    std::vector<Element> elements;
    for (std::size_t i = 0; i < indices.size(); ++i) {
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
    Result<Tensor> result = body(elements);
    if (!result.ok()) return result;

    if (given.has_rank()) element_shape_ = *merged;
    grow_to(indices);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      slots[i].read = true;
      if (!options_.clear_after_read) continue;
      slots[i].cleared = true;
      slots[i].terms.clear();
      any_cleared_ = true;
    }
    return result;
  }

  // [count, inner...] from the elements.
  Result<Tensor> joined(std::span<const Element> elements, std::int64_t count, const Shape& inner) const {
    const auto shape = stacked_shape(count, inner);
    if (!shape.ok()) return invalid_argument(prefix(), shape.status().message());
    return join_elements(elements, *shape, dtype_, item_size_, executor());
  }

  // [0, shape...]
  Result<Tensor> empty_of(const PartialShape& element_shape, const char* operation) const {
    const auto shape = element_shape.full();
    if (!shape) {
      return unimplemented(prefix(), operation, " of no elements needs a fully defined element shape, got ",
                           element_shape.to_string());
    }
    return joined({}, 0, *shape);
  }

  Result<Tensor> empty_gather(const PartialShape& element_shape) {
    const std::unique_lock lock(mutex_);
    BACKSLICE_RETURN_IF_ERROR(check_open());
    const auto merged = merged_shape(element_shape);
    if (!merged.ok()) return merged.status();
    auto result = empty_of(element_shape, "gather");
    if (result.ok()) element_shape_ = *merged;
    return result;
  }

  const DType dtype_;
  const std::int64_t item_size_;
  TensorArrayOptions options_;
  bool is_gradient_ = false;

  mutable std::shared_mutex mutex_;
  PartialShape element_shape_;
  std::int64_t size_;
  bool closed_ = false;
  std::map<std::string, std::shared_ptr<Impl>> gradients_;
  std::optional<Tensor> block_;  // in contiguous mode
  bool all_read_ = false;        // the block was stacked: every element counts as read
  std::atomic<bool> any_cleared_ = false;

  SlotTable slots_;
};

Result<TensorArray> TensorArray::make(std::int64_t size, DType dtype, const TensorArrayOptions& options) {
  return without_throwing([&]() -> Result<TensorArray> {
    if (size < 0) return invalid_argument("TensorArray ", options.name, ": Size should be >= 0. (got ", size, ")");
    if (size > kMaxSize) {
      return invalid_argument("TensorArray ", options.name, ": size ", size, " is more than ", kMaxSize);
    }
    auto impl = std::make_shared<Impl>(size, dtype, options);
    if (options.contiguous) BACKSLICE_RETURN_IF_ERROR(impl->preallocate());
    return TensorArray(std::move(impl));
  });
}

Status TensorArray::write(std::int64_t index, const Tensor& value) {
  return without_throwing([&] { return impl_->write(index, value); });
}
Result<Tensor> TensorArray::read(std::int64_t index) {
  return without_throwing([&] { return impl_->read(index); });
}
Result<Tensor> TensorArray::gather(Ints indices, const PartialShape& element_shape) {
  return without_throwing([&] { return impl_->gather(indices, element_shape); });
}
Status TensorArray::scatter(Ints indices, const Tensor& value) {
  return without_throwing([&] { return impl_->scatter(indices, value); });
}
Result<Tensor> TensorArray::stack() {
  return without_throwing([&] { return impl_->stack(); });
}
Status TensorArray::unstack(const Tensor& value) {
  return without_throwing([&] { return impl_->unstack(value); });
}
Result<TensorArray::Concatenated> TensorArray::concat(const PartialShape& element_shape_except0) {
  return without_throwing([&] { return impl_->concat(element_shape_except0); });
}
Status TensorArray::split(const Tensor& value, Ints lengths) {
  return without_throwing([&] { return impl_->split(value, lengths); });
}
Result<std::int64_t> TensorArray::size() const { return impl_->size(); }
void TensorArray::close() { impl_->close(); }

Result<TensorArray> TensorArray::grad_with_shape(const std::string& source, Ints shape_to_prepend) {
  return without_throwing([&]() -> Result<TensorArray> {
    auto gradient = impl_->grad(source, shape_to_prepend);
    if (!gradient.ok()) return gradient.status();
    return TensorArray(*std::move(gradient));
  });
}

std::optional<TensorArray> TensorArray::find_grad(const std::string& source) const {
  auto gradient = impl_->find_grad(source);
  if (gradient == nullptr) return std::nullopt;
  return TensorArray(std::move(gradient));
}

const std::string& TensorArray::name() const { return impl_->name(); }
DType TensorArray::dtype() const { return impl_->dtype(); }
PartialShape TensorArray::element_shape() const { return impl_->element_shape(); }
bool TensorArray::is_gradient() const { return impl_->is_gradient(); }
bool TensorArray::is_closed() const { return impl_->is_closed(); }

Result<GradWithShape> tensor_array_grad_with_shape(TensorArray handle, float, Ints shape_to_prepend,
                                                   const std::string& source) {
  auto gradient = handle.grad_with_shape(source, shape_to_prepend);
  if (!gradient.ok()) return gradient.status();
  return GradWithShape{*std::move(gradient), 0};
}

}  // namespace backslice
