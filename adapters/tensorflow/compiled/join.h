// Pieces of memory, one after the other, as one tensor. Where they lie next to each other in one block already, the
// tensor is a part of that block, and nothing is moved.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "backslice/c/ragged_variant.h"
#include "errors.h"
#include "tensor_memory.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/types.h"

namespace backslice_tensorflow {

using tensorflow::OpKernelContext;
using tensorflow::tstring;

// Neighbours in memory are joined as they are added, so that many of them are one.
class Pieces {
 public:
  explicit Pieces(DataType dtype)
      : dtype_(dtype), item_size_(dtype == tensorflow::DT_STRING ? sizeof(tstring) : tensorflow::DataTypeSize(dtype)) {}

  void push(const Tensor& tensor) {
    const std::int64_t bytes = tensor.NumElements() * item_size_;
    if (bytes == 0) return;
    const char* const data = data_of(tensor);
    TensorBuffer* const block = block_of(tensor);
    if (runs_.empty()) block_ = block;
    if (block != block_) block_ = nullptr;
    if (!runs_.empty() && !runs_.back().is_zero && runs_.back().data + runs_.back().bytes == data) {
      runs_.back().bytes += bytes;
    } else {
      runs_.push_back({data, bytes, false});
    }
  }

  void push_zeros(std::int64_t elements) {
    const std::int64_t bytes = elements * item_size_;
    if (bytes == 0) return;
    block_ = nullptr;
    has_zeros_ = true;
    if (!runs_.empty() && runs_.back().is_zero) {
      runs_.back().bytes += bytes;
    } else {
      runs_.push_back({nullptr, bytes, true});
    }
  }

  // Preconditions: what was pushed is as much as the shape takes, and still exists.
  absl::Status join(OpKernelContext* context, const TensorShape& shape, int output) const {
    if (runs_.size() == 1 && block_ != nullptr && is_aligned(runs_[0].data)) {
      context->set_output(output, part_of_block(block_, runs_[0].data, runs_[0].bytes, dtype_, shape));
      return absl::OkStatus();
    }
    Tensor* out = nullptr;
    TF_RETURN_IF_ERROR(context->allocate_output(output, shape, &out));
    if (runs_.empty()) return absl::OkStatus();
    if (dtype_ == tensorflow::DT_STRING) return copy_strings(reinterpret_cast<tstring*>(data_of(*out)));
    return copy_bytes(data_of(*out), context);
  }

 private:
  struct Run {
    const char* data;
    std::int64_t bytes;
    bool is_zero;
  };

  absl::Status copy_strings(tstring* out) const {
    for (const Run& run : runs_) {
      const std::int64_t count = run.bytes / item_size_;
      if (!run.is_zero) std::copy_n(reinterpret_cast<const tstring*>(run.data), count, out);
      out += count;  // new strings are empty
    }
    return absl::OkStatus();
  }

  static std::int32_t is_cancelled(void* manager) {
    return static_cast<tensorflow::CancellationManager*>(manager)->IsCancelled() ? 1 : 0;
  }

  absl::Status copy_bytes(char* out, OpKernelContext* kernel) const {
    std::vector<std::int64_t> splits(1, 0), sizes;
    std::vector<std::uint8_t> missing;
    for (const Run& run : runs_) {
      splits.push_back(splits.back() + run.bytes);
      sizes.push_back(run.bytes);
      missing.push_back(run.is_zero ? 1 : 0);
    }
    std::vector<backslice_view> views;
    views.reserve(runs_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i) views.push_back(bytes_view(runs_[i].data, &sizes[i]));
    backslice_view row_splits = BACKSLICE_VIEW_INIT;
    row_splits.data = splits.data();
    row_splits.dtype = BACKSLICE_INT64;
    std::int64_t length = static_cast<std::int64_t>(splits.size());
    if (has_zeros_) {  // otherwise a scalar, which nobody looks at
      row_splits.rank = 1;
      row_splits.shape = &length;
    }
    const backslice_view whole = bytes_view(out, &splits.back());
    backslice_context context = BACKSLICE_CONTEXT_INIT;
    if (kernel->cancellation_manager() != nullptr) {
      context.cancelled = is_cancelled;
      context.cancelled_user = kernel->cancellation_manager();
    }
    const std::int32_t code = backslice_ragged_pieces_gradient_into(
        views.data(), missing.data(), static_cast<std::int64_t>(views.size()), &row_splits, 1, {&splits.back(), 1},
        &whole, BACKSLICE_OVERWRITE, &context);
    if (code == BACKSLICE_OK) return absl::OkStatus();
    return absl::Status(static_cast<absl::StatusCode>(code), backslice_last_error());
  }

  static backslice_view bytes_view(const char* data, const std::int64_t* size) {
    backslice_view view = BACKSLICE_VIEW_INIT;
    view.data = const_cast<char*>(data);
    view.dtype = BACKSLICE_UINT8;
    view.rank = 1;
    view.shape = size;
    return view;
  }

  DataType dtype_;
  std::int64_t item_size_;
  std::vector<Run> runs_;
  TensorBuffer* block_ = nullptr;  // that all of them are in; null where they are not in one
  bool has_zeros_ = false;
};

}  // namespace backslice_tensorflow
