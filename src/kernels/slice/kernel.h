// The slice kernels: a plan run with SIMD rows, in parallel.
//
// They do what the reference kernels do, bit for bit, and have the same preconditions.
#pragma once

#include <cstddef>
#include <optional>

#include "backslice/dtype.h"
#include "kernels/cpu/kernel_context.h"
#include "kernels/cuda/memory.h"
#include "kernels/nest/nest.h"
#include "plan/plan.h"

namespace backslice {

// The ways to fill a destination, best first: zeros and then the selected elements; groups of positions that share
// lines of the source; long rows by a writer; boxes that stay in the cache. Each can fill any destination.
enum class FillWay { Nest, Transposed, Rows, Boxes };
inline constexpr std::size_t kFillWays = 4;

// Writes every item of the destination once: from the source if the plan selects it, zero elsewhere. Without a `way`,
// each piece takes the first that pays.
void fill(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src, const KernelContext& context,
          std::optional<FillWay> way = std::nullopt);

// Returns a fill of a few kilobytes without pieces and tasks, which would take longer than the bytes; nullopt if the
// plan is larger. Precondition: its items are bytes.
std::optional<FillNest> small_fill(const Plan& plan);

// Adds the source to the destination. The plan takes every item and is not widened. Precondition: can_add(dtype).
void add(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src, const KernelContext& context);

// Runs the plan's loops one item at a time: the plain version, with which every faster kernel is compared.
// Preconditions of all: the plan was made for these tensors, and destination and source do not overlap. `dst` and `src`
// point to the first element of each tensor; no alignment is assumed, except for strings.
namespace reference {

// The plan may be widened, except for DType::String.
void overwrite(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src);
void accumulate(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src);

}  // namespace reference

}  // namespace backslice

namespace backslice::cuda {

// The same, queued on a stream. They allocate nothing, wait for nothing, and throw a StatusException if CUDA fails.
void fill(const Plan& plan, std::byte* dst, const std::byte* src, DeviceStream queue);
void add(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src, DeviceStream queue);

}  // namespace backslice::cuda
