// Memory that a kernel needs for itself, from the caller's allocator.
#pragma once

#include <new>

#include "backslice/tensor.h"
#include "core/boundary.h"
#include "core/checked_math.h"

namespace backslice {

// Room for `count` items, uninitialised, aligned as tensors are. Throws where there is none.
template <class T>
Buffer allocate_scratch(std::int64_t count, Allocator& allocator) {
  const auto bytes = checked_multiply(count, static_cast<std::int64_t>(sizeof(T)));
  if (!bytes) throw std::bad_alloc();
  const auto memory =
      Tensor::make(DType::UInt8, *Shape::make({*bytes}), 0, Contents::Uninitialised, allocator);  // checks what it got
  if (!memory.ok()) throw StatusException(memory.status());
  return memory->buffer();
}

}  // namespace backslice
