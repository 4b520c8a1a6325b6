// What handlers share: the arguments of a call as views, and its results, ready to be written.
#pragma once

#include <vector>

#include "backslice/result.h"
#include "backslice/view.h"
#include "buffers.h"
#include "core/boundary.h"
#include "parts.h"

namespace backslice::jax {

using throwing::refuse;
using throwing::unwrap;

/// Ends the operation with the error, if there is one.
void check(const Status& status);

/// The arguments; `name` with their numbers is for messages.
std::vector<ConstView> views_of(const xla::ffi::RemainingArgs& arguments, std::string_view name, Device device = {});

/// The slices of the attribute `slices`, with their dy's, of which that of `parts` has how many each argument holds.
std::vector<SliceGradient> gradients_of(xla::ffi::Span<const std::int64_t> slices,
                                        xla::ffi::Span<const std::int64_t> parts, const xla::ffi::RemainingArgs& dys,
                                        Device device = {});

/// One of the results, by its number.
xla::ffi::AnyBuffer buffer_of(const xla::ffi::RemainingRets& results, std::size_t number);

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
