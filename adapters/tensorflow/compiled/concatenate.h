// Runs of bytes, one after the other: short ones as they come, long ones by backslice's C interface, whose kernels know
// when to write past the caches.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "backslice/c/ragged_variant.h"
#include "errors.h"

namespace backslice_tensorflow {

// Neighbours in memory are joined as they are added, so that many of them are one.
class Runs {
 public:
  // Null for zeros.
  void push(const char* data, std::int64_t bytes) {
    if (bytes == 0) return;
    total_ += bytes;
    if (!data_.empty() && goes_on(data)) {
      bytes_.back() += bytes;
    } else {
      data_.push_back(data);
      bytes_.push_back(bytes);
    }
  }

  // Precondition: there is room for all of them at `out`.
  absl::Status concatenate(char* out) const {
    if (data_.empty()) return absl::OkStatus();
    if (total_ / static_cast<std::int64_t>(data_.size()) >= kLong) return concatenate_long(out);
    for (std::size_t i = 0; i < data_.size(); ++i) {
      const auto bytes = static_cast<std::size_t>(bytes_[i]);
      if (data_[i] == nullptr) {
        std::memset(out, 0, bytes);
      } else {
        std::memcpy(out, data_[i], bytes);
      }
      out += bytes;
    }
    return absl::OkStatus();
  }

 private:
  static constexpr std::int64_t kLong = 4096;  // bytes: from here on, describing a run to the library costs little

  absl::Status concatenate_long(char* out) const {
    std::vector<backslice_view> views;
    std::vector<std::uint8_t> missing;
    std::vector<std::int64_t> splits(1, 0);
    views.reserve(data_.size());
    for (std::size_t i = 0; i < data_.size(); ++i) {
      views.push_back(bytes_view(data_[i], &bytes_[i]));
      missing.push_back(data_[i] == nullptr ? 1 : 0);
      splits.push_back(splits.back() + bytes_[i]);
    }
    const std::int64_t length = static_cast<std::int64_t>(splits.size());
    backslice_view row_splits = bytes_view(reinterpret_cast<const char*>(splits.data()), &length);
    row_splits.dtype = BACKSLICE_INT64;
    const backslice_view whole = bytes_view(out, &splits.back());
    return status_of(backslice_ragged_pieces_gradient_into(views.data(), missing.data(), length - 1, &row_splits, 1,
                                                           {&splits.back(), 1}, &whole, BACKSLICE_OVERWRITE,
                                                           here().context()));
  }

  // On the calling thread: which is one of several that do the same.
  class Here {
   public:
    Here() {
      executor_.run = [](void*, std::int64_t count, void (*task)(void*, std::int64_t), void* arg) -> std::int32_t {
        for (std::int64_t i = 0; i < count; ++i) task(arg, i);
        return 0;
      };
      context_.executor = &executor_;
    }
    Here(const Here&) = delete;
    const backslice_context* context() const { return &context_; }

   private:
    backslice_executor executor_ = BACKSLICE_EXECUTOR_INIT;
    backslice_context context_ = BACKSLICE_CONTEXT_INIT;
  };

  static const Here& here() {
    static const Here* const one = new Here;
    return *one;
  }

  bool goes_on(const char* data) const {
    return data == nullptr ? data_.back() == nullptr : data_.back() != nullptr && data_.back() + bytes_.back() == data;
  }

  static backslice_view bytes_view(const char* data, const std::int64_t* size) {
    backslice_view view = BACKSLICE_VIEW_INIT;
    view.data = const_cast<char*>(data);
    view.dtype = BACKSLICE_UINT8;
    view.rank = 1;
    view.shape = size;
    return view;
  }

  std::vector<const char*> data_;
  std::vector<std::int64_t> bytes_;
  std::int64_t total_ = 0;
};

}  // namespace backslice_tensorflow
