#include "multi_slice.h"

#include <deque>
#include <numeric>

#include "backslice/multi_slice.h"
#include "data_types.h"
#include "slice_kernels.h"

namespace backslice::tensorflow {
namespace {

constexpr std::size_t kMasks = 5;

TfSlice slice_of(const std::int64_t* entries, std::int32_t size, const std::int32_t* masks) {
  TfSlice slice;
  for (std::int32_t i = 0; i < size; ++i, entries += 3) {
    slice.begin.push_back(entries[0]);
    slice.end.push_back(entries[1]);
    slice.strides.push_back(entries[2]);
  }
  slice.begin_mask = masks[0];
  slice.end_mask = masks[1];
  slice.ellipsis_mask = masks[2];
  slice.new_axis_mask = masks[3];
  slice.shrink_axis_mask = masks[4];
  return slice;
}

void unknown_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  TF_ShapeInferenceContextSetUnknownShape(context, status);
}

Status define(const char* op, std::initializer_list<const char*> inputs, const char* output) {
  TF_OpDefinitionBuilder* builder = TF_NewOpDefinitionBuilder(op);
  for (const char* attr : {"T: type", "N: int >= 1", "sizes: list(int)", "masks: list(int)"})
    TF_OpDefinitionBuilderAddAttr(builder, attr);
  for (const char* input : inputs) TF_OpDefinitionBuilderAddInput(builder, input);
  TF_OpDefinitionBuilderAddOutput(builder, output);
  TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, unknown_shape);
  const OwnedStatus status = new_status();
  TF_RegisterOpDefinition(builder, status.get());
  return from_tensorflow(status.get());
}

}  // namespace

MultiSlice::MultiSlice(const Attributes& attributes)
    : sizes_(attributes.integers("sizes")), masks_(attributes.integers("masks")) {
  const auto slices = static_cast<std::size_t>(attributes.integer("N"));
  if (sizes_.size() != slices || masks_.size() != kMasks * slices)
    throw StatusException({StatusCode::Internal, "sizes must have N numbers and masks 5 * N"});
}

Result<std::vector<Selection>> MultiSlice::selections(Ints shape, const Input& entries) const {
  const std::int64_t rows = std::accumulate(sizes_.begin(), sizes_.end(), std::int64_t{0});
  if (entries.rank() != 2 || entries.dims()[0] != rows || entries.dims()[1] != 3)
    return invalid_argument("entries must have shape [", rows, ",3], got ", entries.dims());
  const std::vector<std::int64_t> numbers = entries.integers();
  const std::int64_t* first = numbers.data();
  std::vector<Selection> selections;
  selections.reserve(sizes_.size());
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    const Result<Selection> selection = Selection::from_tf(shape, slice_of(first, sizes_[i], &masks_[kMasks * i]));
    if (!selection) return invalid_argument("slice ", i, " of ", sizes_.size(), ": ", selection.status().message());
    selections.push_back(*selection);
    first += 3 * sizes_[i];
  }
  return selections;
}

Status MultiSlice::compute(Call& call) const {
  Input x = call.input(0);
  const Result<ConstView> view = x.view();
  if (!view) return view.status();
  const Result<std::vector<Selection>> slices = selections(x.dims(), call.input(1));
  if (!slices) return slices.status();
  return set_slices(call, *slices, *view, x.data_type());
}

Status MultiSliceGrad::compute(Call& call) const {
  const Input shape = call.input(0);
  if (shape.rank() != 1) return invalid_argument("shape must be 1-D, got shape.shape = ", shape.dims());
  const std::vector<std::int64_t> extents = shape.integers();
  const Result<std::vector<Selection>> slices = selections(extents, call.input(1));
  if (!slices) return slices.status();
  std::deque<Input> dys;  // views point into them
  std::vector<SliceGradient> gradients;
  for (const Selection& selection : *slices) {
    Input& dy = dys.emplace_back(call.tensor(static_cast<int>(2 + dys.size())));
    const Result<ConstView> view = dy.view();
    if (!view) return view.status();
    gradients.push_back({selection, *view});
  }
  return call.set_output(0, dys.front().data_type(), multi_slice_grad(extents, gradients));
}

Status register_multi_slice() {
  if (Status s = define("BacksliceMultiSlice", {"x: T", "entries: int64"}, "y: N * T"); !s.ok()) return s;
  if (Status s = define("BacksliceMultiSliceGrad", {"shape: int64", "entries: int64", "dy: N * T"}, "dx: T"); !s.ok())
    return s;
  if (Status s = register_kernel<MultiSlice>("BacksliceMultiSlice", all_types()); !s.ok()) return s;
  return register_kernel<MultiSliceGrad>("BacksliceMultiSliceGrad", all_types());
}

}  // namespace backslice::tensorflow
