#include "slice_spec.h"

#include "message.h"

namespace backslice::onnxruntime {
namespace {

std::optional<std::vector<std::int64_t>> optional_list(const Input& input) {
  if (!input.is_given()) return std::nullopt;
  return input.list();
}

}  // namespace

OnnxSlice slice_spec(const Call& call, std::size_t first) {
  return {.starts = call.input(first, "starts").list(),
          .ends = call.input(first + 1, "ends").list(),
          .axes = optional_list(call.input(first + 2, "axes")),
          .steps = optional_list(call.input(first + 3, "steps"))};
}

void check_elements(const Input& dy, const Selection& selection) {
  const Shape& expected = selection.result_shape();
  if (dy.elements() == expected.elements()) return;
  refuse(invalid_argument(dy.name(), " has ", dy.elements(), " elements (shape ", dy.dims(), "), the slice has ",
                          expected.elements(), " (shape ", Ints(expected), "); they must agree"));
}

}  // namespace backslice::onnxruntime
