// slice and slice_grad without a boundary, for callers that have one: these may throw. `argument` is what callers know
// the input, or the gradient, as.
#pragma once

#include "backslice/multi_slice.h"
#include "backslice/slice.h"

namespace backslice::unguarded {

Status slice_into(const Selection& selection, const ConstView& x, const View& out, const Context& context,
                  const char* argument = "x");
Result<Tensor> slice(const Selection& selection, const ConstView& x, const Context& context,
                     const char* argument = "x");
Status slice_grad_into(const Selection& selection, const ConstView& dy, const View& out, Write write,
                       const Context& context, const char* argument = "dy");
Result<Tensor> slice_grad(const Selection& selection, const ConstView& dy, const Context& context,
                          const char* argument = "dy");

// What callers know the parts of slices as: "slices[3].dy" is a list, an entry and a field.
struct SliceNames {
  struct Part {
    const char *list = "slices", *field;
  };
  const char* slices = "slices";  // all of them
  Part selection{.field = ".selection"}, dy{.field = ".dy"};
};

Status multi_slice_grad_into(Ints shape, std::span<const SliceGradient> slices, const View& out, Write write,
                             const Context& context, const SliceNames& names);
Status multi_slice_write_into(Ints shape, std::span<const SliceGradient> slices, const View& out,
                              const Context& context, const SliceNames& names);

}  // namespace backslice::unguarded
