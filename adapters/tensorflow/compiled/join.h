// Pieces, one after the other, as one tensor. Where they lie next to each other in one block already, the tensor is a
// part of that block, and nothing is moved.
//
// There may be millions of pieces, each behind three pointers. They are looked at once, on several threads, a batch at
// a time; what is kept of each is where its memory lies, for the copy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
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

// Source: bool find(std::int64_t i, Piece*) const; absl::Status error(std::int64_t i) const, why it returned false; and
// const void* place(std::int64_t i) const, the first memory of kPlace bytes that find(i) will read.
template <class Source>
class Join {
 public:
  Join(OpKernelContext* context, DataType dtype, std::int64_t count, const Source& source)
      : context_(context), dtype_(dtype), width_(item_size_of(dtype)), count_(count), source_(source) {
    batches_.resize(static_cast<std::size_t>((count + kBatch - 1) / kBatch));
    spans_.reset(new Span[static_cast<std::size_t>(count)]);
  }

  // As an output of that shape, if they add up to it.
  absl::Status to_output(int output, const TensorShape& shape) {
    for_each_batch(kCyclesToLook, [&](std::int64_t at, Batch& batch) { return look(at, batch); });
    TF_RETURN_IF_ERROR(first_error());
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
    for_each_batch(kCyclesToCopy, [&](std::int64_t at, Batch& batch) { return copy(at, batch, out); });
    return first_error();
  }

 private:
  static constexpr std::int64_t kBatch = 256, kAhead = 16, kPlace = 40, kCyclesToLook = 20'000, kCyclesToCopy = 50'000,
                                kFromPool = 1 << 18;

  struct Batch {
    std::int64_t begin = 0, elements = 0;
    const char *first = nullptr, *last = nullptr;  // of its memory, if it is one run within one block
    TensorBuffer* block = nullptr;
    absl::Status status;
  };

  template <class Body>
  void for_each_batch(std::int64_t cycles, const Body& body) {
    parallel_for(context_, static_cast<std::int64_t>(batches_.size()), cycles, [&](std::int64_t at) {
      Batch& batch = batches_[static_cast<std::size_t>(at)];
      try {  // an exception must not reach TensorFlow's threads
        batch.status = is_cancelled() ? absl::CancelledError("the step was cancelled") : body(at, batch);
      } catch (const std::bad_alloc&) {
        batch.status = resource_exhausted("there is not enough memory to join ", count_, " pieces");
      }
    });
  }

  bool is_cancelled() const {
    return context_->cancellation_manager() != nullptr && context_->cancellation_manager()->IsCancelled();
  }

  // Errors of earlier pieces come first, whichever thread was quicker.
  absl::Status first_error() const {
    for (const Batch& batch : batches_) TF_RETURN_IF_ERROR(batch.status);
    return absl::OkStatus();
  }

  std::int64_t size_of(std::int64_t batch) const { return std::min(kBatch, count_ - batch * kBatch); }

  // TensorFlow's memory for large tensors is fresh from the system, and the faults of its pages take longer than the
  // copy.
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

  // A batch that is one run is known by its ends; of others the place of each piece is kept.
  absl::Status look(std::int64_t at, Batch& batch) {
    if (is_one_run(at, batch)) return absl::OkStatus();
    batch.elements = 0;
    batch.block = nullptr;
    return find_spans(at, batch);
  }

  // Pieces of one block were made one after the other, and so were the objects that they lie behind: the processor
  // sees that by itself, and asking it for memory takes longer than what is won.
  bool is_one_run(std::int64_t at, Batch& batch) const {
    const std::int64_t begin = at * kBatch, end = begin + size_of(at);
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

  absl::Status find_spans(std::int64_t at, Batch& batch) {
    const Tensor* values[kBatch];
    Span* const spans = &spans_[static_cast<std::size_t>(at * kBatch)];
    const std::int64_t count = size_of(at);
    for (std::int64_t i = 0; i < count; ++i) {
      ask_for(at * kBatch + i + kAhead);
      Piece piece;
      if (!source_.find(at * kBatch + i, &piece)) return source_.error(at * kBatch + i);
      if (__builtin_add_overflow(batch.elements, piece.elements, &batch.elements)) {
        return invalid_argument("the pieces up to ", at * kBatch + i, " have more than 2**63 - 1 elements in all");
      }
      if (piece.values != nullptr) __builtin_prefetch(buffer_of(*piece.values));
      values[i] = piece.values;
      spans[i].elements = piece.elements;
    }
    for (std::int64_t i = 0; i < count; ++i) spans[i].data = values[i] == nullptr ? nullptr : data_of(*values[i]);
    return absl::OkStatus();
  }

  // What is far away in memory is asked for some steps before it is needed.
  void ask_for(std::int64_t i) const {
    if (i >= count_) return;
    const auto* const place = static_cast<const char*>(source_.place(i));
    __builtin_prefetch(place);
    __builtin_prefetch(place + kPlace - 1);
  }

  // Where all of them begin, if they are one run within one block. Sets block_.
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

  absl::Status copy(std::int64_t at, const Batch& batch, char* out) const {
    const Span run{batch.first, batch.elements};
    const Span* const spans = batch.block != nullptr ? &run : &spans_[static_cast<std::size_t>(at * kBatch)];
    const std::int64_t count = batch.elements == 0 ? 0 : batch.block != nullptr ? 1 : size_of(at);
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
