#include "call.h"

#include <string>

#include "core/errors.h"
#include "fresh_memory.h"

namespace backslice::jax {
namespace {

// XLA's own complaint about an argument that a call does not have; we only ask for those that it has.
template <class T>
T from_xla(xla::ffi::ErrorOr<T> value) {
  if (!value.has_value()) refuse({StatusCode::Internal, value.error().message()});
  return *value;
}

std::int64_t bytes_of(const ConstView& view) { return view.elements() * view.layout.item_size; }

// Appends the gradients of the slices, whose dy's lie in the argument one after the other.
void split(const ConstView& argument, std::span<Selection> slices, std::vector<SliceGradient>& into) {
  const std::int64_t end = bytes_of(argument);
  std::int64_t at = 0;
  for (Selection& slice : slices) {
    const ConstView dy = unwrap(ConstView::contiguous(argument.data + at, argument.dtype, slice.result_shape()));
    into.push_back({std::move(slice), dy});
    at += bytes_of(dy);
    if (at > end) break;
  }
  if (at != end)
    refuse(invalid_argument("an array of shape ", Ints(argument.shape()), " is not the dy's of its ", slices.size(),
                            " slices"));
}

}  // namespace

void check(const Status& status) {
  if (!status.ok()) refuse(status);
}

std::vector<ConstView> views_of(const xla::ffi::RemainingArgs& arguments, std::string_view name) {
  std::vector<ConstView> views;
  views.reserve(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto buffer = from_xla(arguments.get<xla::ffi::AnyBuffer>(i));
    views.push_back(unwrap(view_of(buffer, std::string(name) + "[" + std::to_string(i) + "]")));
  }
  return views;
}

std::vector<SliceGradient> gradients_of(std::vector<Selection> slices, std::span<const ConstView> arguments,
                                        Ints parts) {
  if (arguments.size() != parts.size())
    refuse(invalid_argument("the attribute `parts` has ", parts.size(),
                            " numbers, expected one per argument: ", arguments.size()));
  std::vector<SliceGradient> gradients;
  gradients.reserve(slices.size());
  std::span<Selection> left = slices;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (parts[i] < 0 || parts[i] > std::ssize(left))
      refuse(invalid_argument("the attribute `parts` is ", parts, ", expected as many as there are slices"));
    const auto count = static_cast<std::size_t>(parts[i]);
    split(arguments[i], left.first(count), gradients);
    left = left.subspan(count);
  }
  if (!left.empty()) refuse(invalid_argument("the attribute `parts` is ", parts, ", fewer than there are slices"));
  return gradients;
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
