// ItemOperations: what can be done with the elements of a dtype, whatever they are.
//
// Nearly all elements are bytes: a copy is a copy of bytes, zero is zero bytes, and nothing has to be made or ended.
// Strings are objects. What needs to know, asks here, and nowhere else is a dtype compared with String.
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

  // dst[i] += src[i], by the rule on sums; null where elements cannot be added.
  void (*add)(std::byte* dst, const std::byte* src, std::int64_t count);

  // Begin and end objects in memory that holds none; null where elements are bytes.
  void (*construct)(std::byte* items, std::int64_t count);
  void (*destroy)(std::byte* items, std::int64_t count) noexcept;

  std::int64_t alignment;      // that the elements need; 1 where they are bytes
  std::int64_t addition_work;  // how many bytes are copied in the time that adding one byte takes
};

const ItemOperations& operations_of(DType dtype);

// Whether elements are no objects. Asked by every call, and so not looked up.
inline bool are_bytes(DType dtype) { return dtype != DType::String; }

}  // namespace backslice
