// Spans of memory, one after the other: short ones are copied here, long ones by backslice's C interface, whose kernels
// know when to bypass the caches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "backslice/c/ragged_variant.h"
#include "errors.h"

namespace backslice_tensorflow {

struct Span {
  const char* data;  // null: zeros
  std::int64_t elements;
};

namespace detail {

constexpr std::int64_t kLong = 4096;  // bytes: from here on, describing a span to the library costs little
constexpr std::int64_t kAhead = 8;    // spans: memory is asked for so long before it is read
constexpr std::int64_t kAsked = 256;  // bytes of each: what follows, the processor asks for by itself

// Runs everything on the calling thread, which is one of several with the same work.
inline const backslice_context* here() {
  static const backslice_context* const context = [] {
    auto* const executor = new backslice_executor BACKSLICE_EXECUTOR_INIT;
    executor->run = [](void*, std::int64_t count, void (*task)(void*, std::int64_t), void* arg) -> std::int32_t {
      for (std::int64_t i = 0; i < count; ++i) task(arg, i);
      return 0;
    };
    auto* const made = new backslice_context BACKSLICE_CONTEXT_INIT;
    made->executor = executor;
    return made;
  }();
  return context;
}

inline backslice_view bytes_view(const char* data, const std::int64_t* size) {
  backslice_view view = BACKSLICE_VIEW_INIT;
  view.data = const_cast<char*>(data);
  view.dtype = BACKSLICE_UINT8;
  view.rank = 1;
  view.shape = size;
  return view;
}

inline absl::Status concatenate_long(const Span* spans, std::int64_t count, std::int64_t width, char* out) {
  const auto size = static_cast<std::size_t>(count);
  std::vector<backslice_view> views(size);
  std::vector<std::uint8_t> missing(size);
  std::vector<std::int64_t> bytes(size), splits(size + 1, 0);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = spans[i].elements * width;
    views[i] = bytes_view(spans[i].data, &bytes[i]);
    missing[i] = spans[i].data == nullptr ? 1 : 0;
    splits[i + 1] = splits[i] + bytes[i];
  }
  const std::int64_t length = count + 1;
  backslice_view row_splits = bytes_view(reinterpret_cast<const char*>(splits.data()), &length);
  row_splits.dtype = BACKSLICE_INT64;
  const backslice_view whole = bytes_view(out, &splits.back());
  return status_of(backslice_ragged_pieces_gradient_into(views.data(), missing.data(), count, &row_splits, 1,
                                                         {&splits.back(), 1}, &whole, BACKSLICE_OVERWRITE, here()));
}

inline void ask_for(const char* data, std::int64_t bytes) {
  for (std::int64_t at = 0; at < std::min(bytes, kAsked); at += 64) __builtin_prefetch(data + at);
}

inline void concatenate_short(const Span* spans, std::int64_t count, std::int64_t width, char* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (i + kAhead < count) ask_for(spans[i + kAhead].data, spans[i + kAhead].elements * width);
    const auto bytes = static_cast<std::size_t>(spans[i].elements * width);
    if (spans[i].data != nullptr) {
      std::memcpy(out, spans[i].data, bytes);
    } else if (bytes > 0) {
      std::memset(out, 0, bytes);
    }
    out += bytes;
  }
}

}  // namespace detail

// Concatenates elements of that width. Precondition: there is room for all of them at `out`.
inline absl::Status concatenate(const Span* spans, std::int64_t count, std::int64_t width, char* out) {
  std::int64_t elements = 0;
  for (std::int64_t i = 0; i < count; ++i) elements += spans[i].elements;
  if (elements == 0) return absl::OkStatus();
  if (elements * width / count >= detail::kLong) return detail::concatenate_long(spans, count, width, out);
  detail::concatenate_short(spans, count, width, out);
  return absl::OkStatus();
}

}  // namespace backslice_tensorflow
