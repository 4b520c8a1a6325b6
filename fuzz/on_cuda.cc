// Puts the fuzzers' tensors into the memory of CUDA device 0. There is no libFuzzer for a device, so this program gives
// a fuzzer random bytes.
//
//     fuzz_dense_cuda [seconds] [seed]
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "backslice/cuda.h"
#include "fuzz/must.h"
#include "fuzz/place.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace backslice::fuzz {

Device place() { return Device::cuda(0); }

Allocator& memory_there() {
  static const std::shared_ptr<Allocator> memory = must_get(cuda_allocator(0), "the memory of device 0");
  return *memory;
}

namespace {

unsigned seed = 1;
std::int64_t cases = 0;

// A false claim calls abort().
void print_case(int) {
  std::fprintf(stderr, "in case %lld of seed %u\n", static_cast<long long>(cases), seed);
  std::_Exit(1);
}

// Short inputs are complete cases, too, and run faster.
std::vector<std::uint8_t> any_bytes(std::mt19937& random) {
  std::vector<std::uint8_t> bytes(random() % (random() % 4 == 0 ? 1200 : 150));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

}  // namespace
}  // namespace backslice::fuzz

int main(int argc, char** argv) {
  using namespace backslice::fuzz;
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  seed = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
  std::signal(SIGABRT, print_case);
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds) {
    std::mt19937 random(static_cast<unsigned>(++cases) * 2654435761u + seed);
    const std::vector<std::uint8_t> bytes = any_bytes(random);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%s: %lld cases on %s, no finding\n", argv[0], static_cast<long long>(cases), "cuda:0");
}
