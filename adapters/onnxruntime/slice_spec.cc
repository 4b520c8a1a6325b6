#include "slice_spec.h"

#include "core/errors.h"

namespace backslice::onnxruntime {
namespace {

std::optional<std::vector<std::int64_t>> optional_list(const Input& input) {
  if (!input.is_given()) return std::nullopt;
  return input.list();
}

void check_elements(const Input& dy, const Selection& selection) {
  const Shape& expected = selection.result_shape();
  if (dy.elements() == expected.elements()) return;
  refuse(invalid_argument(dy.name(), " has ", dy.elements(), " elements (shape ", dy.dims(), "), the slice has ",
                          expected.elements(), " (shape ", Ints(expected), "); they must agree"));
}

}  // namespace

OnnxSlice slice_spec(const Call& call, std::size_t first) {
  return {.starts = call.input(first, "starts").list(),
          .ends = call.input(first + 1, "ends").list(),
          .axes = optional_list(call.optional_input(first + 2, "axes")),
          .steps = optional_list(call.optional_input(first + 3, "steps"))};
}

ConstView shaped_like(const Selection& selection, Input& dy) {
  check_elements(dy, selection);
  return dy.view_as(selection.result_shape());
}

}  // namespace backslice::onnxruntime
