// Pieces, one after the other, as one tensor. If they are adjacent in one block already, the tensor is a part of that
// block, and nothing is moved.
//
// There may be millions of pieces, each behind three pointers. They are read once, on several threads, batch by batch;
// only the addresses of their memory are kept, for the copy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "concatenate.h"
#include "errors.h"
#include "parallel.h"
#include "pool_tensor.h"
#include "row_parts.h"
#include "tensor_memory.h"
#include "tensorflow/core/framework/types.h"

namespace backslice_tensorflow {

using tensorflow::OpKernelContext;
using tensorflow::tstring;

inline std::int64_t item_size_of(DataType dtype) {
  return dtype == tensorflow::DT_STRING ? sizeof(tstring) : tensorflow::DataTypeSize(dtype);
}

struct Piece {
  const Tensor* values = nullptr;  // null: zeros
  std::int64_t elements = 0;
};

// Prefetches the first memory that reading a piece needs. Distant pieces are prefetched together, before the first is
// read.
inline void prefetch(const void* piece) {
  constexpr std::size_t kBytes = 40;
  __builtin_prefetch(piece);
  __builtin_prefetch(static_cast<const char*>(piece) + kBytes - 1);
}

// Tensors as a Source: `values(i)` is tensor i.
template <class Values>
struct Tensors {
  Values values;

  const void* place(std::int64_t i) const { return &values(static_cast<std::size_t>(i)); }
  bool find(std::int64_t i, Piece* piece) const {
    piece->values = &values(static_cast<std::size_t>(i));
    piece->elements = piece->values->NumElements();
    return true;
  }
  absl::Status error(std::int64_t) const { return absl::OkStatus(); }
};
template <class Values>
Tensors(Values) -> Tensors<Values>;

// Source: bool find(std::int64_t i, Piece*) const; absl::Status error(std::int64_t i) const, why it returned false; and
// const void* place(std::int64_t i) const, the memory that find(i) reads first.
template <class Source>
class Join {
 public:
  Join(OpKernelContext* context, DataType dtype, std::int64_t count, const Source& source)
      : context_(context), dtype_(dtype), width_(item_size_of(dtype)), count_(count), source_(source) {
    batches_.resize(static_cast<std::size_t>(batches_of(count)));
    spans_.reset(new Span[static_cast<std::size_t>(count)]);
  }

  // Makes an output of that shape, if the pieces add up to it.
  absl::Status to_output(int output, const TensorShape& shape) {
    const auto look_at = [&](std::int64_t begin, std::int64_t end) { return look(begin, end, batch_at(begin)); };
    TF_RETURN_IF_ERROR(for_each_batch(context_, count_, kCyclesToLook, look_at));
    std::int64_t total = 0;
    for (Batch& batch : batches_) {
      batch.begin = total;
      if (__builtin_add_overflow(total, batch.elements, &total)) return does_not_fit("more than 2**63 - 1", shape);
    }
    if (total != shape.num_elements()) return does_not_fit(absl::StrCat(total), shape);
    if (const char* data = in_one_block(); data != nullptr && is_aligned(data)) {
      context_->set_output(output, part_of_block(block_, data, total * width_, dtype_, shape));
      return absl::OkStatus();
    }
    char* out = nullptr;
    TF_RETURN_IF_ERROR(make_output(output, shape, total * width_, &out));
    return for_each_batch(context_, count_, kCyclesToCopy,
                          [&](std::int64_t begin, std::int64_t end) { return copy(begin, end, batch_at(begin), out); });
  }

 private:
  static constexpr std::int64_t kCyclesToLook = 20'000, kCyclesToCopy = 50'000, kFromPool = 1 << 18;

  struct Batch {
    std::int64_t begin = 0, elements = 0;
    const char *first = nullptr, *last = nullptr;  // of its memory, if it is one run within one block
    TensorBuffer* block = nullptr;
  };

  Batch& batch_at(std::int64_t begin) { return batches_[static_cast<std::size_t>(begin / kBatch)]; }

  // TensorFlow's memory for large tensors is fresh from the system, and its page faults take longer than the copy.
  absl::Status make_output(int output, const TensorShape& shape, std::int64_t bytes, char** out) const {
    if (dtype_ == tensorflow::DT_STRING || bytes < kFromPool) {
      Tensor* made = nullptr;
      TF_RETURN_IF_ERROR(context_->allocate_output(output, shape, &made));
      *out = data_of(*made);
      return absl::OkStatus();
    }
    const auto pooled = pool_tensor(bytes, dtype_, shape);
    TF_RETURN_IF_ERROR(pooled.status());
    *out = data_of(*pooled);
    context_->set_output(output, *pooled);
    return absl::OkStatus();
  }

  // For a batch that is one run, its ends are kept; for others the address of each piece.
  absl::Status look(std::int64_t begin, std::int64_t end, Batch& batch) {
    if (is_one_run(begin, end, batch)) return absl::OkStatus();
    batch.elements = 0;
    batch.block = nullptr;
    return find_spans(begin, end, batch);
  }

  // Pieces of one block were made one after the other, and so were the objects behind them: the processor predicts
  // their addresses, and prefetching would cost more than it gains.
  bool is_one_run(std::int64_t begin, std::int64_t end, Batch& batch) const {
    RowFollower rows;
    for (std::int64_t i = begin; i < end; ++i) {
      Piece piece;
      if (!source_.find(i, &piece)) return false;
      if (piece.elements == 0) continue;
      if (piece.values == nullptr) return false;
      if (!rows.follows(buffer_of(*piece.values))) {
        if (!rows.ends_at(batch.last) || !goes_on(*piece.values, batch)) return false;
        rows.begin(buffer_of(*piece.values));
      }
      batch.elements += piece.elements;  // of memory that there is
      batch.last += piece.elements * width_;
    }
    return rows.ends_at(batch.last);
  }

  static bool goes_on(const Tensor& values, Batch& batch) {
    const char* const data = data_of(values);
    if (batch.first == nullptr) {
      batch.first = batch.last = data;
      batch.block = block_of(values);
    }
    return data == batch.last && block_of(values) == batch.block;
  }

  absl::Status find_spans(std::int64_t begin, std::int64_t end, Batch& batch) {
    const Tensor* values[kBatch];
    for (std::int64_t i = begin; i < end; ++i) prefetch(source_.place(i));
    for (std::int64_t i = begin; i < end; ++i) {
      Piece piece;
      if (!source_.find(i, &piece)) return source_.error(i);
      if (__builtin_add_overflow(batch.elements, piece.elements, &batch.elements)) {
        return invalid_argument("the pieces up to ", i, " have more than 2**63 - 1 elements in all");
      }
      if (piece.values != nullptr) __builtin_prefetch(buffer_of(*piece.values));
      values[i - begin] = piece.values;
      spans_[static_cast<std::size_t>(i)].elements = piece.elements;
    }
    for (std::int64_t i = begin; i < end; ++i) {
      const Tensor* const found = values[i - begin];
      spans_[static_cast<std::size_t>(i)].data = found == nullptr ? nullptr : data_of(*found);
    }
    return absl::OkStatus();
  }

  // Returns the beginning of all pieces if they are one run within one block. Sets block_.
  const char* in_one_block() {
    const char *first = nullptr, *last = nullptr;
    for (const Batch& batch : batches_) {
      if (batch.elements == 0) continue;
      if (batch.block == nullptr) return nullptr;
      if (first == nullptr) {
        first = batch.first;
        block_ = batch.block;
      } else if (batch.first != last || batch.block != block_) {
        return nullptr;
      }
      last = batch.last;
    }
    return first;
  }

  absl::Status copy(std::int64_t begin, std::int64_t end, const Batch& batch, char* out) const {
    const Span run{batch.first, batch.elements};
    const Span* const spans = batch.block != nullptr ? &run : &spans_[static_cast<std::size_t>(begin)];
    const std::int64_t count = batch.elements == 0 ? 0 : batch.block != nullptr ? 1 : end - begin;
    out += batch.begin * width_;
    if (dtype_ != tensorflow::DT_STRING) return concatenate(spans, count, width_, out);
    copy_strings(spans, count, reinterpret_cast<tstring*>(out));
    return absl::OkStatus();
  }

  static void copy_strings(const Span* spans, std::int64_t count, tstring* out) {
    for (std::int64_t i = 0; i < count; ++i) {  // new strings are empty
      if (spans[i].data != nullptr)
        std::copy_n(reinterpret_cast<const tstring*>(spans[i].data), spans[i].elements, out);
      out += spans[i].elements;
    }
  }

  absl::Status does_not_fit(const std::string& total, const TensorShape& shape) const {
    return invalid_argument("the ", count_, " pieces have ", total, " elements in all, but dense_values_shape ",
                            shape.DebugString(), " has ", shape.num_elements());
  }

  OpKernelContext* const context_;
  const DataType dtype_;
  const std::int64_t width_, count_;
  const Source& source_;
  std::vector<Batch> batches_;
  std::unique_ptr<Span[]> spans_;  // of each piece, where it is not within a run
  TensorBuffer* block_ = nullptr;
};

}  // namespace backslice_tensorflow
