#include "call.h"

#include <string>

#include "core/errors.h"
#include "huge_pages.h"

namespace backslice::jax {
namespace {

// XLA's own complaint about an argument that a call does not have; we only ask for those that it has.
template <class T>
T from_xla(xla::ffi::ErrorOr<T> value) {
  if (!value.has_value()) refuse({StatusCode::Internal, value.error().message()});
  return *value;
}

void split(const ConstView& argument, std::int64_t parts, std::vector<ConstView>& into) {
  if (parts == 1) return into.push_back(argument);
  if (parts < 1 || argument.shape().rank() == 0 || argument.shape()[0] % parts != 0)
    refuse(invalid_argument("an array of shape ", Ints(argument.shape()), " does not hold ", parts, " alike"));
  std::vector<std::int64_t> extents(argument.shape().begin(), argument.shape().end());
  extents[0] /= parts;
  const std::int64_t bytes = argument.elements() / parts * argument.layout.item_size;
  for (std::int64_t i = 0; i < parts; ++i) {
    const auto* data = static_cast<const std::byte*>(argument.data) + i * bytes;
    into.push_back(unwrap(ConstView::contiguous(data, argument.dtype, extents)));
  }
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

std::vector<ConstView> parts_of(std::span<const ConstView> arguments, std::span<const std::int64_t> parts) {
  if (arguments.size() != parts.size())
    refuse(invalid_argument("the attribute `parts` has ", parts.size(),
                            " numbers, expected one per argument: ", arguments.size()));
  std::vector<ConstView> views;
  for (std::size_t i = 0; i < parts.size(); ++i) split(arguments[i], parts[i], views);
  return views;
}

View result_of(xla::ffi::Result<xla::ffi::AnyBuffer>& result) {
  const View view = unwrap(view_of(*result, "the result"));
  expect_writes(view);
  return view;
}

std::vector<View> results_of(const xla::ffi::RemainingRets& results) {
  std::vector<View> views;
  views.reserve(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    auto result = from_xla(results.get<xla::ffi::AnyBuffer>(i));
    views.push_back(result_of(result));
  }
  return views;
}

}  // namespace backslice::jax
