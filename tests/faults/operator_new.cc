// Makes operator new fail when the tests say so. Test programs and the sanitized extension module link this file.
#include <cstdlib>
#include <new>

#include "core/faults.h"

#ifdef BACKSLICE_FAULT_INJECTION

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return backslice::faults::strikes() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}

void* operator new(std::size_t bytes) {
  if (void* memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

#endif
