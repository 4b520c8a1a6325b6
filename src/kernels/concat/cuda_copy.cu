#include <cuda_pipeline.h>

#include "kernels/concat/cuda_segments.cuh"

namespace backslice::cuda {
namespace {

constexpr int kVectors = kTileBytes / kVectorBytes / kSegmentThreads;  // per thread

// Where the units of a vector come from: null for zeros, and for bytes that are not the destination's.
template <int kUnit>
struct VectorSource {
  static constexpr int kUnits = kVectorBytes / kUnit;

  const std::byte* unit[kUnits];
  int at;  // in the tile

  __device__ void find(const TileSegments& segments, int first) {
    at = first;
    const int lo = segments.lo(), hi = segments.hi();
    int segment = segments.find(at < lo ? lo : at), end = segments.begin(segment + 1);
    const std::byte* base = segments.base(segment);
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      const int byte = at + u * kUnit;
      if (byte >= end && segment < segments.last()) {  // no segment is shorter than a unit
        end = segments.begin(++segment + 1);
        base = segments.base(segment);
      }
      unit[u] = base != nullptr && byte >= lo && byte < hi ? base + byte : nullptr;
    }
  }

  __device__ Vector read() const {
    Vector vector;
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      if (unit[u] != nullptr) put<kUnit>(vector, static_cast<unsigned>(u), load<kUnit>(unit[u]));
    }
    return vector;
  }

  __device__ void write(const TileSegments& segments, const Vector& vector, bool writes_zeros) const {
    const int lo = segments.lo(), hi = segments.hi();
    bool is_whole = at >= lo && at + kVectorBytes <= hi;
#pragma unroll
    for (int u = 0; u < kUnits; ++u) is_whole &= writes_zeros || unit[u] != nullptr;
    if (is_whole) return store<16>(segments.dst(at), vector);
    const auto* items = reinterpret_cast<const Item<kUnit>*>(&vector);
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      const int byte = at + u * kUnit;
      if (byte >= lo && byte < hi && (writes_zeros || unit[u] != nullptr)) store<kUnit>(segments.dst(byte), items[u]);
    }
  }
};

// -- Short segments: groups of threads take one after the other, which needs no search. All of a tile is gathered in
// shared memory, without waiting, and then written in whole vectors: L2 takes a sector that is written in parts twice.

constexpr int kGroup = 16, kGroups = kSegmentThreads / kGroup, kSectorBytes = 32;

struct alignas(kVectorBytes) StagedTile {
  std::byte bytes[kTileBytes];
};

// One unit to shared memory; complete after __pipeline_wait_prior(0).
template <int kUnit>
__device__ void stage(std::byte* to, const std::byte* from) {
  if constexpr (kUnit >= 4) {
    __pipeline_memcpy_async(to, from, kUnit);
  } else {
    *reinterpret_cast<Item<kUnit>*>(to) = load<kUnit>(from);
  }
}

// A group's part of a segment. Its steps begin where sectors of the source do, so that each is read once.
template <int kUnit>
__device__ void stage_segment(StagedTile& tile, const std::byte* base, int begin, int end) {
  constexpr int kStep = kGroup * kUnit, kSteps = 4;
  const int lead = static_cast<int>(address(base + begin) % kSectorBytes);
  for (int at = begin - lead + static_cast<int>(threadIdx.x) % kGroup * kUnit; at < end; at += kSteps * kStep) {
    std::byte* to = tile.bytes + at;
    const std::byte* from = base + at;
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      if (at + s * kStep >= begin && at + s * kStep < end) stage<kUnit>(to + s * kStep, from + s * kStep);
    }
  }
}

template <int kUnit>
__device__ void stage_zeros(StagedTile& tile, int begin, int end) {
  for (int at = begin + static_cast<int>(threadIdx.x) % kGroup * kUnit; at < end; at += kGroup * kUnit) {
    *reinterpret_cast<Item<kUnit>*>(tile.bytes + at) = Item<kUnit>{};
  }
}

template <int kUnit>
__device__ void copy_short(const TileSegments& segments, StagedTile& tile) {
  const int lo = segments.lo(), hi = segments.hi();
  for (int segment = static_cast<int>(threadIdx.x) / kGroup; segment < segments.count(); segment += kGroups) {
    const int begin = segments.begin(segment), end = segments.begin(segment + 1);
    const int first = begin < lo ? lo : begin, last = end < hi ? end : hi;
    if (const std::byte* base = segments.base(segment)) {
      stage_segment<kUnit>(tile, base, first, last);
    } else {
      stage_zeros<kUnit>(tile, first, last);
    }
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int at = (k * kSegmentThreads + static_cast<int>(threadIdx.x)) * static_cast<int>(kVectorBytes);
    const std::byte* from = tile.bytes + at;
    if (at >= lo && at + kVectorBytes <= hi) {
      store<16>(segments.dst(at), *reinterpret_cast<const Vector*>(from));
      continue;
    }
    for (int u = 0; u < kVectorBytes; u += kUnit) {
      if (at + u < lo || at + u >= hi) continue;
      store<kUnit>(segments.dst(at + u), *reinterpret_cast<const Item<kUnit>*>(from + u));
    }
  }
}

// A thread finds where two vectors come from, then reads them, then writes them. Of narrow units it takes one vector at
// a time, for which it has registers enough.
template <int kUnit>
__global__ void __launch_bounds__(kSegmentThreads, kUnit >= 4 ? 5 : 3)
    copy_kernel(const __grid_constant__ SegmentTable table, bool writes_zeros) {
  constexpr int kAtOnce = kUnit >= 4 ? 2 : 1;
  __shared__ KeptSegments kept;
  __shared__ StagedTile tile;
  const TileSegments segments(table, blockIdx.x, kept);
  if (writes_zeros && segments.are_short()) return copy_short<kUnit>(segments, tile);
#pragma unroll 1
  for (int k = 0; k < kVectors; k += kAtOnce) {
    VectorSource<kUnit> sources[kAtOnce];
    Vector vectors[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      sources[i].find(segments,
                      ((k + i) * kSegmentThreads + static_cast<int>(threadIdx.x)) * static_cast<int>(kVectorBytes));
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) vectors[i] = sources[i].read();
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) sources[i].write(segments, vectors[i], writes_zeros);
  }
}

}  // namespace

cudaError_t copy_segments(const SegmentTable& table, std::int64_t tiles, int unit, bool writes_zeros,
                          cudaStream_t stream) {
  const auto run = [&]<int kUnit>() {
    return launch_grid(copy_kernel<kUnit>, static_cast<unsigned>(tiles), kSegmentThreads, stream, table, writes_zeros);
  };
  switch (unit) {
    case 16: return run.template operator()<16>();
    case 4: return run.template operator()<4>();
    case 2: return run.template operator()<2>();
    case 1: return run.template operator()<1>();
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace backslice::cuda
