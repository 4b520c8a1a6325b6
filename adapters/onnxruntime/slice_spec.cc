#include "slice_spec.h"

#include "core/errors.h"

namespace backslice::onnxruntime {
namespace {

std::optional<std::vector<std::int64_t>> optional_list(const Input& input) {
  if (!input.is_given()) return std::nullopt;
  return input.list();
}

void check_elements(const Input& dy, const Shape& expected) {
  if (dy.elements() == expected.elements()) return;
  refuse(invalid_argument(dy.name(), " has ", dy.elements(), " elements (shape ", dy.dims(), "), the slice has ",
                          expected.elements(), " (shape ", Ints(expected), "); they must agree"));
}

}  // namespace

SliceInputs::SliceInputs(const Node& node, std::size_t first) : first_(first) {
  const std::size_t count = node.inputs();
  std::optional<std::vector<std::int64_t>> lists[4];
  for (std::size_t i = 0; i < 4 && first + i < count; ++i) {
    lists[i] = node.constant_list(first + i);
    if (!lists[i]) return;  // it changes, or is left out in the middle
  }
  if (!lists[1]) return;
  constant_ = {.starts = *lists[0], .ends = *lists[1], .axes = lists[2], .steps = lists[3]};
}

OnnxSlice SliceInputs::read(const Call& call) const {
  if (constant_) return *constant_;
  return {.starts = call.input(first_, "starts").list(),
          .ends = call.input(first_ + 1, "ends").list(),
          .axes = optional_list(call.optional_input(first_ + 2, "axes")),
          .steps = optional_list(call.optional_input(first_ + 3, "steps"))};
}

ConstView shaped_like(const Selection& selection, Input& dy) {
  return shaped_like(contiguous_layout(selection.result_shape(), item_size(dy.element_type().dtype)), dy);
}

ConstView shaped_like(const Layout& slice, Input& dy) {
  check_elements(dy, slice.shape);
  return dy.view_as(slice);
}

}  // namespace backslice::onnxruntime
