// From how indices are read at run time to a type at compile time.
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/sparse/cuda_found.h"

namespace backslice::cuda {

template <class Visitor>
cudaError_t visit_reads(IndexKind kind, const Visitor& visitor) {
  switch (kind) {
    case IndexKind::Int32: return visitor.template operator()<AlignedIndex<std::int32_t>>();
    case IndexKind::Int64: return visitor.template operator()<AlignedIndex<std::int64_t>>();
    case IndexKind::UnalignedInt32: return visitor.template operator()<UnalignedIndex<std::int32_t>>();
    case IndexKind::UnalignedInt64: return visitor.template operator()<UnalignedIndex<std::int64_t>>();
  }
  return cudaErrorInvalidValue;
}

// The same where both columns of lists that have two are wanted at once.
template <class Visitor>
cudaError_t visit_pair_reads(const Lists& lists, const Visitor& visitor) {
  const bool is_paired = lists.input.is_paired && lists.output.is_paired;
  if (is_paired && lists.kind == IndexKind::Int32) return visitor.template operator()<PairedIndex<std::int32_t>>();
  if (is_paired && lists.kind == IndexKind::Int64) return visitor.template operator()<PairedIndex<std::int64_t>>();
  return visit_reads(lists.kind, visitor);
}

}  // namespace backslice::cuda
