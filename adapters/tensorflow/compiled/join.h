// Pieces, one after the other, as one tensor. Where they lie next to each other in one block already, the tensor is a
// part of that block, and nothing is moved.
//
// There may be millions of pieces, each behind three pointers: they are looked at on several threads, a batch at a
// time, first for their sizes and then to copy them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "concatenate.h"
#include "errors.h"
#include "parallel.h"
#include "pool_tensor.h"
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

// Source: absl::Status find(std::int64_t i, Piece*) const, the same each time, and const void* place(std::int64_t i)
// const, the first memory of 128 bytes that find(i) will read.
template <class Source>
class Join {
 public:
  Join(OpKernelContext* context, DataType dtype, std::int64_t count, const Source& source)
      : context_(context), dtype_(dtype), width_(item_size_of(dtype)), count_(count), source_(source) {
    batches_.resize(static_cast<std::size_t>((count + kBatch - 1) / kBatch));
  }

  // As an output of that shape, if they add up to it.
  absl::Status to_output(int output, const TensorShape& shape) {
    for_each_batch(kCyclesToMeasure, [&](std::int64_t at, Batch& batch) { return measure(at, batch); });
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
  static constexpr std::int64_t kBatch = 512, kAhead = 12, kCyclesToMeasure = 50'000, kCyclesToCopy = 200'000,
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

  std::int64_t end_of(std::int64_t batch) const { return std::min(count_, (batch + 1) * kBatch); }

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

  absl::Status measure(std::int64_t at, Batch& batch) const {
    bool is_one_run = true;
    for (std::int64_t i = at * kBatch; i < end_of(at); ++i) {
      Piece piece;
      TF_RETURN_IF_ERROR(find(i, &piece));
      if (__builtin_add_overflow(batch.elements, piece.elements, &batch.elements)) {
        return invalid_argument("the pieces up to ", i, " have more than 2**63 - 1 elements in all");
      }
      if (piece.elements > 0 && is_one_run) is_one_run = goes_on(piece, batch);
    }
    if (!is_one_run) batch.block = nullptr;
    return absl::OkStatus();
  }

  bool goes_on(const Piece& piece, Batch& batch) const {
    if (piece.values == nullptr) return false;
    const char* const data = data_of(*piece.values);
    TensorBuffer* const block = block_of(*piece.values);
    if (batch.first == nullptr) {
      batch.first = data;
      batch.block = block;
    } else if (data != batch.last || block != batch.block) {
      return false;
    }
    batch.last = data + piece.elements * width_;
    return true;
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

  // What is far away in memory is asked for some steps before it is needed.
  absl::Status find(std::int64_t i, Piece* piece) const {
    if (i + kAhead < count_) {
      const char* const place = static_cast<const char*>(source_.place(i + kAhead));
      __builtin_prefetch(place);
      __builtin_prefetch(place + 64);
    }
    return source_.find(i, piece);
  }

  absl::Status copy(std::int64_t at, const Batch& batch, char* out) const {
    std::vector<Piece> pieces(static_cast<std::size_t>(end_of(at) - at * kBatch));
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      TF_RETURN_IF_ERROR(find(at * kBatch + static_cast<std::int64_t>(i), &pieces[i]));
      if (pieces[i].values != nullptr) __builtin_prefetch(buffer_of(*pieces[i].values));
    }
    out += batch.begin * width_;
    return dtype_ == tensorflow::DT_STRING ? copy_strings(pieces, reinterpret_cast<tstring*>(out))
                                           : copy_bytes(pieces, out);
  }

  absl::Status copy_bytes(const std::vector<Piece>& pieces, char* out) const {
    Runs runs;
    for (const Piece& piece : pieces) {
      const char* const data = piece.values == nullptr ? nullptr : data_of(*piece.values);
      __builtin_prefetch(data);
      runs.push(data, piece.elements * width_);
    }
    return runs.concatenate(out);
  }

  static absl::Status copy_strings(const std::vector<Piece>& pieces, tstring* out) {
    for (const Piece& piece : pieces) {  // new strings are empty
      if (piece.values != nullptr)
        std::copy_n(reinterpret_cast<const tstring*>(data_of(*piece.values)), piece.elements, out);
      out += piece.elements;
    }
    return absl::OkStatus();
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
  TensorBuffer* block_ = nullptr;
};

}  // namespace backslice_tensorflow
