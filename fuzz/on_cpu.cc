// Puts the fuzzers' tensors into the CPU's memory.
#include "fuzz/place.h"

namespace backslice::fuzz {

Device place() { return Device::cpu(); }
Allocator& memory_there() { return pool_allocator(); }

}  // namespace backslice::fuzz
