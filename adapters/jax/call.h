// Shared by handlers: the arguments of a call as views, and its results, ready to be written.
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

/// Returns the arguments; `name` with their numbers is for messages.
std::vector<ConstView> views_of(const xla::ffi::RemainingArgs& arguments, std::string_view name, Device device = {});

/// Returns the slices of the attribute `slices`, with their dy's. The attribute `parts` says which argument holds which
/// dy.
std::vector<SliceGradient> gradients_of(xla::ffi::Span<const std::int64_t> slices,
                                        xla::ffi::Span<const std::int64_t> parts, const xla::ffi::RemainingArgs& dys,
                                        Device device = {});

/// Returns a result, by its number.
xla::ffi::AnyBuffer buffer_of(const xla::ffi::RemainingRets& results, std::size_t number);

View result_of(xla::ffi::Result<xla::ffi::AnyBuffer>& result);

/// Returns all results, which will be written completely: in huge pages if they are large.
std::vector<View> results_of(const xla::ffi::RemainingRets& results);

/// Runs the body of a handler. Exceptions become XLA's errors.
template <class Body>
xla::ffi::Error guarded(Body&& body) {
  const Status status = without_throwing([&]() -> Status {
    body();
    return {};
  });
  return status.ok() ? xla::ffi::Error::Success() : to_xla(status);
}

}  // namespace backslice::jax
