// What a TensorArray is made of. tensor_array.cc makes and closes it, write.cc and read.cc
// have the operations on its elements.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "backslice/tensor_array.h"
#include "core/errors.h"
#include "memory/tensor_rows.h"
#include "tensor_array/elements.h"
#include "tensor_array/slot_table.h"

namespace backslice {

// Two kinds of locks. `mutex_` guards what operations on elements only look at (size, closed, element shape): they hold
// it shared, and the few that change it hold it alone. Each slot has its own; those of one operation are locked in the
// order of their indices, so that no two operations wait for each other.
class TensorArray::Impl {
 public:
  static constexpr std::int64_t kMaxSize = std::numeric_limits<std::int32_t>::max();  // TensorFlow's indices are int32

  Impl(std::int64_t size, DType dtype, const TensorArrayOptions& options)
      : dtype_(dtype),
        item_size_(dtype == DType::Bytes ? options.item_size : backslice::item_size(dtype)),
        options_(options),
        element_shape_(options.element_shape),
        size_(size) {}

  // Makes the block of contiguous mode.
  Status preallocate(const Context& context);

  Status write(std::int64_t index, const Tensor& value, const Context& context);
  Status scatter(Ints indices, const Tensor& value, const Context& context);
  Status unstack(const Tensor& value, const Context& context);
  Status split(const Tensor& value, Ints lengths, const Context& context);

  Result<Tensor> read(std::int64_t index, const Context& context);
  Result<Tensor> gather(Ints indices, const PartialShape& element_shape, const Context& context);
  Result<Tensor> stack(const Context& context);
  Result<Concatenated> concat(const PartialShape& element_shape_except0, const Context& context);

  Result<std::int64_t> size() const;
  void close();
  Result<std::shared_ptr<Impl>> grad(const std::string& source, Ints shape_to_prepend, const Context& context);
  std::shared_ptr<Impl> find_grad(std::string_view source) const;

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
  // An element to be written: a part of the value that is given. Many are kept at once, so they are small.
  struct Write {
    enum class Part { Whole, Row, Rows };
    std::int64_t index;
    Part part = Part::Whole;
    std::int64_t lo = 0, hi = 0;  // Row is row lo, Rows are [lo, hi)
    Slot* slot = nullptr;         // once it is locked

    Tensor of(const Tensor& value) const;
  };

  // The slots of indices, locked in the order of the indices, each once.
  class Locked {
   public:
    Locked(Impl& array, std::span<const std::int64_t> indices, const TaskRunner& runner) {
      std::vector<std::pair<std::int64_t, Slot*>> sorted;
      sorted.reserve(indices.size());
      slots_.reserve(indices.size());
      std::int64_t step = 0;
      array.slots_.for_each_of(indices, [&](std::int64_t index, Slot& slot) {
        runner.throw_if_cancelled_at(++step);
        slots_.push_back(&slot);
        sorted.push_back({index, &slot});
      });
      if (!std::is_sorted(sorted.begin(), sorted.end())) std::sort(sorted.begin(), sorted.end());
      runner.throw_if_cancelled_at(step);
      sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
      has_duplicates_ = sorted.size() < slots_.size();
      locked_.reserve(sorted.size());
      try {
        for (const auto& [index, slot] : sorted) {
          slot->mutex.lock();
          locked_.push_back(slot);
        }
      } catch (...) {  // in a forked child
        unlock();
        throw;
      }
    }
    ~Locked() { unlock(); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

    Slot& operator[](std::size_t i) { return *slots_[i]; }
    bool has_duplicates() const { return has_duplicates_; }

   private:
    void unlock() noexcept {
      for (Slot* slot : locked_) slot->mutex.unlock();
    }

    std::vector<Slot*> slots_, locked_;
    bool has_duplicates_ = false;
  };

  // Writes to one slot: first all that can fail, then all that changes.
  class Prepared {
   public:
    // For `writes`, which are to one slot, in order, and were checked.
    explicit Prepared(std::span<const Write> writes) : writes_(writes) {}

    Status take_memory(const Impl& array, const Tensor& value, const Context& context);
    // Returns what the slot held and does not hold any longer.
    std::vector<Tensor> commit(const Impl& array, const Tensor& value) noexcept;

   private:
    std::span<const Write> writes_;
    std::vector<Tensor> terms_;  // what the slot will hold, where that is not what it holds and the writes
  };

  // Rows of the block of contiguous mode that are being written: zeros again, unless they are kept.
  class BlockRows {
   public:
    BlockRows(Impl& array, std::size_t count) : array_(array) { begun_.reserve(count); }
    ~BlockRows();
    BlockRows(const BlockRows&) = delete;
    BlockRows& operator=(const BlockRows&) = delete;

    void write(const Tensor& value, const Write& write, const Call& call);
    void keep() { begun_.clear(); }

   private:
    Impl& array_;
    std::vector<Tensor> begun_;
  };

  std::string title() const { return name().empty() ? "TensorArray" : "TensorArray " + name(); }
  std::string prefix() const { return title() + ": "; }

  Status check_open() const {
    if (!closed_) return Status();
    return invalid_argument(title(), " has already been closed.");
  }
  Status check_dtype(const Tensor& value) const;
  // Whether a shape of which all is known has no more than 2^63 - 1 elements.
  Status check_product(const PartialShape& shape, const char* argument) const;

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

  // What slots no longer hold: let go of when no lock is held, since its owners may use this array.
  using Released = std::vector<std::vector<Tensor>>;

  // -- Writing. Those that are _locked are called with mutex_ held: alone if they change the structure, else shared.

  bool changes_structure(std::int64_t index) const;
  bool changes_structure(std::span<const Write> writes) const;
  Status write_locked(const Tensor& value, Write& write, const Context& context, Released& released);
  Status write_locked(const Tensor& value, std::span<Write> writes, const Context& context, Released& released);
  Status write_all(const Tensor& value, std::span<Write> writes, const Context& context);
  Status check_range(std::int64_t index) const;
  Status check_write(const Slot& slot, std::int64_t index, const Shape& shape, const PartialShape& element_shape) const;

  // Writes of one call to the same index: an error in forward arrays, and sums must agree in shape.
  Status check_duplicates(const Tensor& value, std::span<const Write> writes) const;

  // Writes that were checked and whose slots are locked: all that can fail, then all that changes. `element_shape` is
  // what is known after them.
  Status store(const Tensor& value, std::span<const Write> writes, const PartialShape& element_shape,
               const Context& context, Released& released);

  // Appends what a slot holds after a write: the part of the value, or the row of the block that it was copied to.
  void append_stored(std::vector<Tensor>& terms, const Tensor& value, const Write& write) const {
    if (block_) return terms.push_back(row_of(*block_, write.index));
    if (write.part == Write::Part::Whole) return terms.push_back(value);
    terms.push_back(write.of(value));
  }
  void commit_structure(std::span<const Write> writes, const PartialShape& element_shape) noexcept;

  // -- Reading

  Status check_read_range(std::int64_t index) const;

  // What reading the slot gives, without changing it.
  Result<Element> element_of(const Slot& slot, std::int64_t index, const PartialShape& element_shape) const;

  // Reads the elements: all checks, then `body` makes the result of them, then they count as read. A shape that is
  // given becomes the array's. What the slots let go of is `released` after the locks: its last owner may take its
  // time.
  template <class Body>
  Result<Tensor> with_elements(Ints indices, const PartialShape& given, const Context& context, const Body& body);
  template <class Body>
  Result<Tensor> read_locked(Ints indices, const PartialShape& given, const Context& context, Released& released,
                             const Body& body);

  Result<PartialShape> merged_shape(const PartialShape& given) const;

  // 0, 1, ..., count - 1, for what is `done` to all elements.
  Result<std::vector<std::int64_t>> indices_up_to(std::int64_t count, const char* done) const;

  // The rows of elements that are to be concatenated: they must agree in all dims but the first.
  struct Rows {
    std::vector<std::int64_t> lengths;
    std::int64_t total = 0;
    Dims inner;
  };
  Result<Rows> rows_of_all(std::span<const Element> elements, const PartialShape& element_shape_except0) const;

  // [count, inner...] from the elements.
  Result<Tensor> joined(std::span<const Element> elements, std::int64_t count, Ints inner,
                        const Context& context) const;

  // [0, shape...]
  Result<Tensor> empty_of(const PartialShape& element_shape, const char* needed, const Context& context) const;
  Result<Tensor> empty_gather(const PartialShape& element_shape, const Context& context);
  Result<Tensor> empty_concat(const PartialShape& element_shape_except0, const Context& context) const;

  const DType dtype_;
  const std::int64_t item_size_;
  TensorArrayOptions options_;
  bool is_gradient_ = false;

  mutable ForkAwareSharedMutex mutex_;
  PartialShape element_shape_;
  std::int64_t size_;
  bool closed_ = false;
  std::map<std::string, std::shared_ptr<Impl>, std::less<>> gradients_;
  std::optional<Tensor> block_;  // in contiguous mode
  bool all_read_ = false;        // the block was stacked: every element counts as read
  std::atomic<bool> any_cleared_ = false;

  SlotTable slots_;
};

}  // namespace backslice
