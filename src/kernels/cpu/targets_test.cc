// The table of SIMD targets against what the system says of the machine.
#include "backslice/targets.h"

#ifdef __aarch64__
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <set>

#include "kernels/cpu/targets.h"
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

TEST(Targets, ScalarRunsEverywhereAndComesLast) { EXPECT_EQ(simd_targets().back(), "SCALAR"); }

TEST(Targets, HaveRowsOfTheirOwn) {
  std::set<const RowKernels*> rows;
  for (const Target& target : available_targets()) rows.insert(target.rows);
  EXPECT_EQ(rows.size(), available_targets().size());
}

TEST(Targets, StreamWholeLines) {
  for (const Target& target : available_targets()) EXPECT_EQ(kLine % target.rows->vector_bytes, 0) << target.name;
}

#ifdef __x86_64__
bool listed(std::string_view name) { return std::ranges::count(simd_targets(), name) == 1; }

TEST(Targets, AreThoseOfTheProcessor) {
  EXPECT_EQ(listed("SSE4"), __builtin_cpu_supports("sse4.2") != 0);
  EXPECT_EQ(listed("AVX2"), __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
  EXPECT_EQ(listed("AVX3"), __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"));
}
#endif

#ifdef __aarch64__
// The bytes of an SVE vector; 0 where there is no SVE.
int sve_vector_bytes() { return getauxval(AT_HWCAP) & HWCAP_SVE ? prctl(PR_SVE_GET_VL) & PR_SVE_VL_LEN_MASK : 0; }

bool has_sve2() { return getauxval(AT_HWCAP2) & HWCAP2_SVE2; }

std::vector<std::string> expected_targets() {
  const int bytes = sve_vector_bytes();
  std::vector<std::string> expected;
  if (bytes == 16 && has_sve2()) expected.push_back("SVE2_128");
  if (bytes == 32) expected.push_back("SVE_256");
  if (bytes > 0 && bytes <= kLine && has_sve2()) expected.push_back("SVE2");
  if (bytes > 0 && bytes <= kLine) expected.push_back("SVE");
  expected.insert(expected.end(), {"NEON", "SCALAR"});
  return expected;
}

TEST(Targets, AreThoseOfTheProcessor) { EXPECT_EQ(simd_targets(), expected_targets()); }
#endif

}  // namespace
}  // namespace backslice
