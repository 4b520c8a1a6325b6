#include "kernels/cpu/targets.h"

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>

#include "backslice/targets.h"
#include "core/errors.h"

namespace backslice {
namespace {

struct Candidate {
  std::int64_t bit;
  std::string_view name;
};

// Best first. Some exist only on x86-64, some only on ARM.
constexpr Candidate kCandidates[] = {
    {HWY_AVX3, "AVX3"}, {HWY_AVX2, "AVX2"}, {HWY_SSE4, "SSE4"}, {HWY_SVE2_128, "SVE2_128"}, {HWY_SVE_256, "SVE_256"},
    {HWY_SVE2, "SVE2"}, {HWY_SVE, "SVE"},   {HWY_NEON, "NEON"}, {HWY_SCALAR, "SCALAR"},
};

// Null if this build excludes the target.
const RowKernels* rows_of(const Candidate& candidate) {
  static std::deque<RowKernels> made;  // targets point to it
  RowKernels rows{};
  set_spread_rows(candidate.bit, rows);
  set_move_rows(candidate.bit, rows);
  set_stream_rows(candidate.bit, rows);
  set_add_rows(candidate.bit, rows);
  set_index_rows(candidate.bit, rows);
  if (rows.vector_bytes == 0) return nullptr;
  made.push_back(rows);
  return &made.back();
}

// Targets for which the whole library was compiled need no detection. (Highway requires AES for NEON, which some ARM
// machines with NEON lack.)
bool runs_here(const Candidate& candidate) {
  constexpr std::int64_t kAlways = HWY_SCALAR | HWY_STATIC_TARGET;
  return ((hwy::SupportedTargets() | kAlways) & candidate.bit) != 0;
}

// SVE's vectors may be up to four cache lines long. No known machine has more than one line; on such a machine NEON
// runs.
bool vectors_fill_lines(const RowKernels& rows) { return kLine % rows.vector_bytes == 0; }

std::vector<Target> find_targets() {
  std::vector<Target> found;
  for (const Candidate& candidate : kCandidates) {
    if (!runs_here(candidate)) continue;
    const RowKernels* rows = rows_of(candidate);
    if (rows != nullptr && vectors_fill_lines(*rows)) found.push_back({candidate.name, rows});
  }
  return found;
}

// Returns the target that BACKSLICE_FORCE_TARGET names, or null.
const Target* forced_target() {
  const char* name = std::getenv("BACKSLICE_FORCE_TARGET");
  if (name == nullptr) return nullptr;
  const auto& targets = available_targets();
  const auto found = std::find_if(targets.begin(), targets.end(), [&](const Target& t) { return t.name == name; });
  return found == targets.end() ? nullptr : &*found;
}

}  // namespace

const std::vector<Target>& available_targets() {
  static const std::vector<Target> targets = find_targets();
  return targets;
}

const Target& active_target() {
  static std::atomic<const Target*> chosen = nullptr;
  if (const Target* target = chosen.load(std::memory_order_acquire)) return *target;
  const Target* const forced = forced_target();
  const Target& target = forced != nullptr ? *forced : available_targets().front();
  if (check_target_variable().ok()) chosen.store(&target, std::memory_order_release);
  return target;
}

Status check_target_variable() {
  const char* name = std::getenv("BACKSLICE_FORCE_TARGET");
  if (name == nullptr || *name == '\0' || forced_target() != nullptr) return Status();
  std::string known;
  for (const Target& target : available_targets()) known += join(known.empty() ? "" : ", ", target.name);
  return invalid_argument("BACKSLICE_FORCE_TARGET is \"", name, "\", which is not a target of this machine: ", known);
}

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const Target& target : available_targets()) names.emplace_back(target.name);
  return names;
}

std::string simd_target() { return std::string(active_target().name); }

}  // namespace backslice
