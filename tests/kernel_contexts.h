// Every way a kernel can run: SIMD target, stores, threads. What they all must agree with is `reference`.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/cpu/kernel_context.h"
#include "kernels/cpu/targets.h"

namespace backslice::testing {

struct KernelWay {
  std::string name;  // "AVX2_streaming_7"
  KernelContext context;

  friend std::ostream& operator<<(std::ostream& out, const KernelWay& way) { return out << way.name; }
};

// Work is cut into a few more pieces than there are threads, however small it is.
inline const std::vector<KernelWay>& kernel_ways() {
  static const std::vector<KernelWay> ways = [] {
    std::vector<KernelWay> all;
    for (const Target& target : available_targets()) {
      for (Stores stores : {Stores::Ordinary, Stores::Streaming}) {
        for (int threads : {1, 2, 7}) {
          static std::vector<std::unique_ptr<Executor>> pools;  // outlive the tests
          pools.push_back(make_thread_executor(threads));
          const std::string how = stores == Stores::Ordinary ? "_cached_" : "_streaming_";
          const std::int64_t pieces = threads == 1 ? 1 : 2 * threads + 1;
          all.push_back({std::string(target.name) + how + std::to_string(threads),
                         {*target.rows, stores, pieces, *pools.back(), pool_allocator()}});
        }
      }
    }
    return all;
  }();
  return ways;
}

}  // namespace backslice::testing
