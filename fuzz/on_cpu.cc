// The fuzzers' tensors lie in memory of the CPU.
#include "fuzz/place.h"

namespace backslice::fuzz {

Device place() { return Device::cpu(); }
Allocator& memory_there() { return pool_allocator(); }

}  // namespace backslice::fuzz
