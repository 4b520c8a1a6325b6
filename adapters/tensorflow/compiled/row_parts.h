// The rows of a tensor as parts of one block. There may be millions of rows. Many share one allocation, which makes
// them quickly, and records whether they are adjacent in the block, so that they need not be read one by one.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <typeinfo>
#include <utility>

#include "tensor_memory.h"

namespace backslice_tensorflow {

class RowPart;

// The positions of rows of one block, made in order. It lives as long as its last row; each row keeps all of it alive.
class RowShelf {
 public:
  static constexpr std::size_t kBytes = std::size_t{1} << 14;  // a power of two: a row finds its shelf by its address

  static RowShelf* of(const void* row) {
    return reinterpret_cast<RowShelf*>(reinterpret_cast<std::uintptr_t>(row) & ~(kBytes - 1));
  }

  static RowShelf* make(TensorBuffer* block) {
    void* const memory = std::aligned_alloc(kBytes, kBytes);
    if (memory == nullptr) throw std::bad_alloc();
    return new (memory) RowShelf(block);
  }

  void release() {
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    block_->Unref();
    this->~RowShelf();
    std::free(this);
  }

  TensorBuffer* block() const { return block_; }
  bool is_full() const;
  RowPart* add(char* data, std::int64_t bytes);

  // Returns the row after this one, if it begins at the end of this one; null if there is none, or if some rows are not
  // adjacent.
  const RowPart* next(const RowPart* row) const;

 private:
  explicit RowShelf(TensorBuffer* block) : block_(block) { block_->Ref(); }

  RowPart* rows();
  const RowPart* rows() const { return const_cast<RowShelf*>(this)->rows(); }

  TensorBuffer* const block_;
  std::atomic<std::int64_t> holders_{1};  // who makes it, and its rows
  std::int64_t count_ = 0;
  const char* end_ = nullptr;  // of the last row's memory
  bool is_one_run_ = true;
};

class RowPart final : public TensorBuffer {
 public:
  RowPart(void* data, std::int64_t bytes) : TensorBuffer(data), bytes_(bytes) {}

  std::size_t size() const override { return static_cast<std::size_t>(bytes_); }
  TensorBuffer* root_buffer() override { return RowShelf::of(this)->block(); }
  bool OwnsMemory() const override { return RowShelf::of(this)->block()->OwnsMemory(); }
  void FillAllocationDescription(tensorflow::AllocationDescription* description) const override {
    RowShelf::of(this)->block()->FillAllocationDescription(description);
  }

  static void* operator new(std::size_t, void* place) { return place; }
  static void operator delete(void* row) { RowShelf::of(row)->release(); }
  static void operator delete(void*, void*) {}

 private:
  ~RowPart() override = default;

  const std::int64_t bytes_;
};

inline RowPart* RowShelf::rows() { return reinterpret_cast<RowPart*>(this + 1); }

inline bool RowShelf::is_full() const {
  return count_ == static_cast<std::int64_t>((kBytes - sizeof(RowShelf)) / sizeof(RowPart));
}

inline RowPart* RowShelf::add(char* data, std::int64_t bytes) {
  is_one_run_ = is_one_run_ && (count_ == 0 || data == end_);
  end_ = data + bytes;
  holders_.fetch_add(1, std::memory_order_relaxed);
  return new (rows() + count_++) RowPart(data, bytes);
}

inline const RowPart* RowShelf::next(const RowPart* row) const {
  return is_one_run_ && row + 1 < rows() + count_ ? row + 1 : nullptr;
}

// Makes rows of blocks, one after the other.
class RowMaker {
 public:
  RowMaker() = default;
  RowMaker(const RowMaker&) = delete;
  ~RowMaker() {
    if (shelf_ != nullptr) shelf_->release();
  }

  // Preconditions: the bytes lie in the block, are aligned, and are the size of the shape.
  Tensor make(TensorBuffer* block, const char* data, std::int64_t bytes, DataType dtype, const TensorShape& shape) {
    if (shelf_ == nullptr || shelf_->is_full() || shelf_->block() != block) {
      RowShelf* const next = RowShelf::make(block);
      if (shelf_ != nullptr) shelf_->release();
      shelf_ = next;
    }
    RowPart* const row = shelf_->add(const_cast<char*>(data), bytes);
    Tensor tensor(dtype, shape, row);
    row->Unref();
    return tensor;
  }

 private:
  RowShelf* shelf_ = nullptr;
};

// Follows rows that were made one after the other and are adjacent: the address identifies each, and its memory need
// not be read.
class RowFollower {
 public:
  // Whether this is the row after the last one.
  bool follows(const TensorBuffer* buffer) {
    if (next_ == nullptr || buffer != next_) return false;
    last_ = next_;
    next_ = RowShelf::of(last_)->next(last_);
    return true;
  }

  // Begins again, with a buffer that may not be a row.
  void begin(const TensorBuffer* buffer) {
    last_ = typeid(*buffer) == typeid(RowPart) ? static_cast<const RowPart*>(buffer) : nullptr;
    next_ = last_ == nullptr ? nullptr : RowShelf::of(last_)->next(last_);
  }

  // Whether the last followed row ends there: a tensor may have another size than its row.
  bool ends_at(const char* end) const {
    return last_ == nullptr || static_cast<const char*>(last_->data()) + last_->size() == end;
  }

 private:
  const RowPart *last_ = nullptr, *next_ = nullptr;
};

}  // namespace backslice_tensorflow
