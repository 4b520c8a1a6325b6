// ItemOperations: the operations on the elements of a dtype.
//
// Nearly all elements are bytes: a copy copies bytes, zero is zero bytes, and construction and destruction are no-ops.
// Strings are objects. All code that needs the difference finds it here; a dtype is compared with String nowhere else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backslice/dtype.h"

namespace backslice {

struct ItemOperations {
  // Runs of `count` elements without gaps.
  void (*copy)(std::byte* dst, const std::byte* src, std::int64_t count, std::int64_t item_size);
  void (*move)(std::byte* dst, std::byte* src, std::int64_t count, std::int64_t item_size) noexcept;
  void (*zero)(std::byte* dst, std::int64_t count, std::int64_t item_size) noexcept;
  bool (*equal)(const std::byte* a, const std::byte* b, std::int64_t count, std::int64_t item_size) noexcept;

  // dst[i] += src[i], by the rule on sums; null if elements cannot be added.
  void (*add)(std::byte* dst, const std::byte* src, std::int64_t count);

  // Construct and destroy objects in raw memory; null if elements are bytes.
  void (*construct)(std::byte* items, std::int64_t count);
  void (*destroy)(std::byte* items, std::int64_t count) noexcept;

  std::int64_t alignment;      // of the elements; 1 if they are bytes
  std::int64_t addition_work;  // number of bytes that are copied in the time of adding one byte
};

const ItemOperations& operations_of(DType dtype);

// Whether elements are bytes, not objects. Called in every operation, so it needs no lookup.
inline bool are_bytes(DType dtype) { return dtype != DType::String; }

}  // namespace backslice
