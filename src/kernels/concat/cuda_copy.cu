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

// A thread finds where two vectors come from, then reads them, then writes them. Of narrow units it takes one vector at
// a time, for which it has registers enough.
template <int kUnit>
__global__ void __launch_bounds__(kSegmentThreads, kUnit >= 4 ? 6 : 3)
    copy_kernel(const __grid_constant__ SegmentTable table, bool writes_zeros) {
  constexpr int kAtOnce = kUnit >= 4 ? 2 : 1;
  __shared__ KeptSegments kept;
  const TileSegments segments(table, blockIdx.x, kept);
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
