#include "call.h"

#include <string>

#include "core/errors.h"
#include "fresh_memory.h"
#include "selections.h"

namespace backslice::jax {
namespace {

// XLA's own error about a missing argument; we read only existing ones.
template <class T>
T from_xla(xla::ffi::ErrorOr<T> value) {
  if (!value.has_value()) refuse({StatusCode::Internal, value.error().message()});
  return *value;
}

}  // namespace

void check(const Status& status) {
  if (!status.ok()) refuse(status);
}

std::vector<ConstView> views_of(const xla::ffi::RemainingArgs& arguments, std::string_view name, Device device) {
  std::vector<ConstView> views;
  views.reserve(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto buffer = from_xla(arguments.get<xla::ffi::AnyBuffer>(i));
    views.push_back(unwrap(view_of(buffer, std::string(name) + "[" + std::to_string(i) + "]", device)));
  }
  return views;
}

std::vector<SliceGradient> gradients_of(xla::ffi::Span<const std::int64_t> slices,
                                        xla::ffi::Span<const std::int64_t> parts, const xla::ffi::RemainingArgs& dys,
                                        Device device) {
  return gradients_of(unwrap(read_selections({slices.begin(), slices.size()})), views_of(dys, "dy", device),
                      {parts.begin(), parts.size()});
}

xla::ffi::AnyBuffer buffer_of(const xla::ffi::RemainingRets& results, std::size_t number) {
  return *from_xla(results.get<xla::ffi::AnyBuffer>(number));
}

View result_of(xla::ffi::Result<xla::ffi::AnyBuffer>& result) { return unwrap(view_of(*result, "the result")); }

std::vector<View> results_of(const xla::ffi::RemainingRets& results) {
  std::vector<View> views;
  views.reserve(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    auto result = from_xla(results.get<xla::ffi::AnyBuffer>(i));
    views.push_back(result_of(result));
    expect_writes(views.back());
  }
  return views;
}

}  // namespace backslice::jax
