// Small gradients, which take less time than a plan for them.
#pragma once

#include "backslice/context.h"
#include "backslice/selection.h"
#include "ops/small_move.h"

namespace backslice {

// Whether nothing of the context matters to a small gradient, and the environment was found right.
bool is_usual(const Context& context);

// Returns the move of dy to where the slice takes it from. Precondition: it is not empty, and has few axes.
SmallMove small_scatter(const Selection& selection, const Layout& dx, const Layout& dy);

// Writes a small gradient. Returns false, and does nothing, for any other. Precondition: the arguments are right.
bool write_small_gradient(const Selection& selection, const ConstView& dy, const View& out, Write write,
                          const Context& context);

}  // namespace backslice
