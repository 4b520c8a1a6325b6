#include "slice_spec.h"

#include "core/errors.h"

namespace backslice::onnxruntime {
SliceInputs::SliceInputs(const Node& node, std::size_t first)
    : starts_(node, first, "starts"),
      ends_(node, first + 1, "ends"),
      axes_(node, first + 2, "axes"),
      steps_(node, first + 3, "steps") {}

OnnxSlice SliceInputs::read(const Call& call) const {
  return {.starts = starts_.read_required(call),
          .ends = ends_.read_required(call),
          .axes = axes_.read(call),
          .steps = steps_.read(call)};
}

std::optional<OnnxSlice> SliceInputs::constant() const {
  if (!starts_.is_constant() || !ends_.is_constant() || !axes_.is_constant() || !steps_.is_constant()) {
    return std::nullopt;
  }
  return OnnxSlice{
      .starts = *starts_.constant(), .ends = *ends_.constant(), .axes = axes_.constant(), .steps = steps_.constant()};
}

KeptLists kept(const std::vector<std::int64_t>& shape, const OnnxSlice& slice) {
  KeptLists lists;
  lists.add(shape);
  lists.add(slice.starts);
  lists.add(slice.ends);
  lists.add(slice.axes);
  lists.add(slice.steps);
  return lists;
}

void check_elements(const Input& dy, const Shape& slice) {
  const std::int64_t elements = dy.elements();
  if (elements == slice.elements()) return;
  refuse(invalid_argument(dy.name(), " has ", elements, " elements (shape ", dy.dims(), "), the slice has ",
                          slice.elements(), " (shape ", Ints(slice), "); they must agree"));
}

ConstView shaped_like(const Selection& selection, Input& dy) {
  check_elements(dy, selection.result_shape());
  return dy.view_as(contiguous_layout(selection.result_shape(), item_size(dy.element_type().dtype)));
}

}  // namespace backslice::onnxruntime
