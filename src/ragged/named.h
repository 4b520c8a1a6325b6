// Ragged operations for callers whose arguments have other names: C's two outputs, Python's types. Messages and
// Status::argument() have these names; the public functions pass their own.
#pragma once

#include <vector>

#include "backslice/ragged_slice.h"
#include "backslice/ragged_variant.h"
#include "backslice/variant_array.h"

namespace backslice {

// The parts of a RaggedView.
struct RaggedViewNames {
  const char* splits = "out.splits";
  const char* values = "out.values";
  const char* count = nullptr;  // has the number of lists, unless they know it themselves
};

// The fields of FromVariantTypes.
struct VariantTypeNames {
  const char* values = "types.values";
  const char* splits = "types.splits";
};

namespace named {

Result<RaggedTensor> make_ragged(const Tensor& values, const std::vector<Tensor>& row_splits, const char* argument,
                                 const Context& context);
Result<RaggedTensor> ragged_from_row_lengths(const Tensor& values, const std::vector<Tensor>& row_lengths,
                                             const char* argument, const Context& context);

Status ragged_slice_into(const Selection& rows, const RaggedTensor& rt, const RaggedView& out,
                         const RaggedViewNames& names, const Context& context);

Status element_into(const VariantArray& array, std::int64_t i, const RaggedView& out, const RaggedViewNames& names,
                    const Context& context);

// Exported for the Python bindings.
BACKSLICE_EXPORT Result<RaggedTensor> ragged_tensor_from_variant(const VariantArray& encoded, int input_ragged_rank,
                                                                 int output_ragged_rank, const FromVariantTypes& types,
                                                                 const VariantTypeNames& names, const Context& context);
Status ragged_tensor_from_variant_into(const VariantArray& encoded, int input_ragged_rank, int output_ragged_rank,
                                       const RaggedView& out, const RaggedViewNames& names,
                                       const FromVariantTypes& types, const Context& context);

// `argument` is the list of pieces.
Status ragged_tensor_to_variant_gradient_into(const VariantArray& encoded_ragged_grad, const char* argument,
                                              const std::vector<Tensor>& row_splits, Ints dense_values_shape,
                                              const View& out, Write write, const Context& context);

// The same from dense pieces in the caller's memory, without an object per piece. A missing piece has no shape and no
// dtype, only the mark that it is missing.
Status ragged_pieces_gradient_into(std::span<const VariantArray::Piece> pieces, const char* argument,
                                   const std::vector<Tensor>& row_splits, Ints dense_values_shape, const View& out,
                                   Write write, const Context& context);

}  // namespace named
}  // namespace backslice
