// What handlers share: the arguments of a call as views, and its results, ready to be written.
#pragma once

#include <vector>

#include "backslice/result.h"
#include "backslice/slice_gradient.h"
#include "backslice/view.h"
#include "buffers.h"
#include "core/boundary.h"

namespace backslice::jax {

using throwing::refuse;
using throwing::unwrap;

/// Ends the operation with the error, if there is one.
void check(const Status& status);

/// The arguments; `name` with their numbers is for messages.
std::vector<ConstView> views_of(const xla::ffi::RemainingArgs& arguments, std::string_view name);

/// The slices with their dy's, which the arguments hold one after the other: `parts` has how many each holds.
std::vector<SliceGradient> gradients_of(std::vector<Selection> slices, std::span<const ConstView> arguments,
                                        Ints parts);

View result_of(xla::ffi::Result<xla::ffi::AnyBuffer>& result);

/// All results, which will be written as a whole: with huge pages where they are large.
std::vector<View> results_of(const xla::ffi::RemainingRets& results);

/// Runs the body of a handler: what it throws becomes XLA's error.
template <class Body>
xla::ffi::Error guarded(Body&& body) {
  const Status status = without_throwing([&]() -> Status {
    body();
    return {};
  });
  return status.ok() ? xla::ffi::Error::Success() : to_xla(status);
}

}  // namespace backslice::jax
