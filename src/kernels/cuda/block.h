// A block of threads that work together, for kernels and for tests on the CPU.
//
// Code that is written in these terms is run by all threads of a block on a device, each of which does its own part. On
// the CPU one thread runs it, and does all parts in turn. What lies between the calls is the same for all threads.
#pragma once

#include "kernels/cuda/portable.h"

namespace backslice::cuda {

// body(thread) by each of kThreads, and then a barrier.
template <int kThreads, class Body>
BACKSLICE_HD void by_threads(const Body& body) {
#ifdef __CUDA_ARCH__
  body(static_cast<int>(threadIdx.x));
  __syncthreads();
#else
  for (int thread = 0; thread < kThreads; ++thread) body(thread);
#endif
}

// body() by the first warp, and then a barrier.
template <class Body>
BACKSLICE_HD void by_first_warp(const Body& body) {
#ifdef __CUDA_ARCH__
  if (threadIdx.x < 32) body();
  __syncthreads();
#else
  body();
#endif
}

// Within a warp: body(lane) by each lane.
template <class Body>
BACKSLICE_HD void by_lanes(const Body& body) {
#ifdef __CUDA_ARCH__
  body(static_cast<int>(threadIdx.x) % 32);
#else
  for (int lane = 0; lane < 32; ++lane) body(lane);
#endif
}

// Within a warp: the lanes for which test(lane) holds, which all lanes are told.
template <class Test>
BACKSLICE_HD std::uint32_t lanes_where(const Test& test) {
#ifdef __CUDA_ARCH__
  return __ballot_sync(0xffffffffu, test(static_cast<int>(threadIdx.x) % 32));
#else
  std::uint32_t lanes = 0;
  for (int lane = 0; lane < 32; ++lane) lanes |= static_cast<std::uint32_t>(test(lane)) << lane;
  return lanes;
#endif
}

// -- Memory that several threads change at once

BACKSLICE_HD void set_bit(std::uint32_t* words, int at) {
#ifdef __CUDA_ARCH__
  atomicOr(&words[at / 32], 1u << at % 32);
#else
  words[at / 32] |= 1u << at % 32;
#endif
}

}  // namespace backslice::cuda
