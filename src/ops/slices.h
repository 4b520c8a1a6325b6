// slice and slice_grad without a boundary, for callers that have one: these may throw.
#pragma once

#include "backslice/slice.h"

namespace backslice::unguarded {

Status slice_into(const Selection& selection, const ConstView& x, const View& out, const Context& context);
Result<Tensor> slice(const Selection& selection, const ConstView& x, const Context& context);
Status slice_grad_into(const Selection& selection, const ConstView& dy, const View& out, Write write,
                       const Context& context);
Result<Tensor> slice_grad(const Selection& selection, const ConstView& dy, const Context& context);

}  // namespace backslice::unguarded
