// Targets: the SIMD instruction sets of the row kernels, and those that this machine can run.
//
// The target is chosen once, at the first call: the best one of the machine, or the one that BACKSLICE_FORCE_TARGET
// names. If the variable names no target, operations fail, and each reads it again.
#pragma once

#include <string_view>
#include <vector>

#include "backslice/export.h"
#include "backslice/status.h"
#include "kernels/cpu/rows.h"

namespace backslice {

struct Target {
  std::string_view name;
  const RowKernels* rows;
};

// Returns the targets that this machine can run, best first.
const std::vector<Target>& available_targets();

// Returns the target in use. Exported for the Python bindings.
BACKSLICE_EXPORT const Target& active_target();

// Returns InvalidArgument if BACKSLICE_FORCE_TARGET names no target that this machine can run. Exported for the Python
// bindings.
BACKSLICE_EXPORT Status check_target_variable();

// Each sets its part of the table, if this build has the target.
void set_spread_rows(std::int64_t target, RowKernels& rows);
void set_move_rows(std::int64_t target, RowKernels& rows);
void set_stream_rows(std::int64_t target, RowKernels& rows);
void set_add_rows(std::int64_t target, RowKernels& rows);
void set_index_rows(std::int64_t target, RowKernels& rows);

// A setter compiled for one target; null if this build excludes the target.
struct PerTarget {
  std::int64_t target;
  void (*set)(RowKernels& rows);
};

template <std::size_t kCount>
void set_for(std::int64_t target, const PerTarget (&all)[kCount], RowKernels& rows) {
  for (const PerTarget& one : all) {
    if (one.target == target && one.set != nullptr) one.set(rows);
  }
}

}  // namespace backslice

// The versions of `function` in backslice::N_AVX2 and so on, as an array of PerTarget. For files that Highway compiles
// once for each target.
#define BACKSLICE_PER_TARGET(function)                                                            \
  {                                                                                               \
      {HWY_AVX3, HWY_CHOOSE_AVX3(function)},       {HWY_AVX2, HWY_CHOOSE_AVX2(function)},         \
      {HWY_SSE4, HWY_CHOOSE_SSE4(function)},       {HWY_SVE2_128, HWY_CHOOSE_SVE2_128(function)}, \
      {HWY_SVE_256, HWY_CHOOSE_SVE_256(function)}, {HWY_SVE2, HWY_CHOOSE_SVE2(function)},         \
      {HWY_SVE, HWY_CHOOSE_SVE(function)},         {HWY_NEON, HWY_CHOOSE_NEON(function)},         \
      {HWY_SCALAR, HWY_CHOOSE_FALLBACK(function)},                                                \
  }
