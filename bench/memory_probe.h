// The speed of the memory itself: the yardstick of the benchmark.
#pragma once

#include <cstddef>
#include <cstdint>

namespace backslice {

enum class ProbeStores { Ordinary, Streaming };

// Zeroes or copies bytes on all threads of the default executor, with the given kind of stores, whatever the size.
// Precondition: the ranges do not overlap.
void probe_zero(std::byte* dst, std::int64_t bytes, ProbeStores stores);
void probe_copy(std::byte* dst, const std::byte* src, std::int64_t bytes, ProbeStores stores);

// Reads every cache line once. The result only keeps the compiler from removing the reads.
std::int64_t probe_read(const std::byte* src, std::int64_t bytes);

}  // namespace backslice
