// Targets: the SIMD instructions that the row kernels are compiled for, and which of them this machine runs.
//
// Which target's rows are used is decided once, at the first call: the best that the machine has, or the one that
// BACKSLICE_FORCE_TARGET names. While that names none, operations fail, and it is read again.
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

// The targets this machine can run, best first.
const std::vector<Target>& available_targets();

// The one in use. Exported for the Python bindings.
BACKSLICE_EXPORT const Target& active_target();

// InvalidArgument where BACKSLICE_FORCE_TARGET names none of the targets this machine can run. Exported for the Python
// bindings.
BACKSLICE_EXPORT Status check_target_variable();

// Each sets its part of the table, where this build has the target.
void set_spread_rows(std::int64_t target, RowKernels& rows);
void set_move_rows(std::int64_t target, RowKernels& rows);
void set_stream_rows(std::int64_t target, RowKernels& rows);
void set_add_rows(std::int64_t target, RowKernels& rows);
void set_index_rows(std::int64_t target, RowKernels& rows);

// A setter compiled for one target; null where this build leaves the target out.
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
