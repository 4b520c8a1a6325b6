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

void define(const char* op, std::initializer_list<const char*> inputs, const char* output) {
  TF_OpDefinitionBuilder* builder = TF_NewOpDefinitionBuilder(op);
  for (const char* attr : {"T: type", "N: int >= 1", "sizes: list(int)", "masks: list(int)"})
    TF_OpDefinitionBuilderAddAttr(builder, attr);
  for (const char* input : inputs) TF_OpDefinitionBuilderAddInput(builder, input);
  TF_OpDefinitionBuilderAddOutput(builder, output);
  TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, unknown_shape);
  const OwnedStatus status = new_status();
  TF_RegisterOpDefinition(builder, status.get());
  check(status);
}

}  // namespace

MultiSlice::MultiSlice(const Attributes& attributes)
    : sizes_(attributes.integers("sizes")), masks_(attributes.integers("masks")) {
  const auto slices = static_cast<std::size_t>(attributes.integer("N"));
  if (sizes_.size() != slices || masks_.size() != kMasks * slices)
    throwing::refuse({StatusCode::Internal, "sizes must have N numbers and masks 5 * N"});
}

std::vector<Selection> MultiSlice::selections(Ints shape, const Input& entries) const {
  const std::int64_t rows = std::accumulate(sizes_.begin(), sizes_.end(), std::int64_t{0});
  if (entries.rank() != 2 || entries.dims()[0] != rows || entries.dims()[1] != 3)
    refuse("entries must have shape [", rows, ",3], got ", entries.dims());
  const std::vector<std::int64_t> numbers = entries.integers();
  const std::int64_t* first = numbers.data();
  std::vector<Selection> selections;
  selections.reserve(sizes_.size());
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    const Result<Selection> selection = Selection::from_tf(shape, slice_of(first, sizes_[i], &masks_[kMasks * i]));
    if (!selection) refuse("slice ", i, " of ", sizes_.size(), ": ", selection.status().message());
    selections.push_back(*selection);
    first += 3 * sizes_[i];
  }
  return selections;
}

void MultiSlice::compute(Call& call) const {
  Input x = call.input(0);
  const ConstView view = x.view();
  set_slices(call, selections(x.dims(), call.input(1)), view, x.data_type());
}

void MultiSliceGrad::compute(Call& call) const {
  const Input shape = call.input(0);
  if (shape.rank() != 1) refuse("shape must be 1-D, got shape.shape = ", shape.dims());
  const std::vector<std::int64_t> extents = shape.integers();
  std::deque<Input> dys;  // views point into them
  std::vector<SliceGradient> gradients;
  for (const Selection& selection : selections(extents, call.input(1))) {
    Input& dy = dys.emplace_back(call.tensor(static_cast<int>(2 + dys.size())));
    gradients.push_back({selection, dy.view()});
  }
  call.set_output(0, dys.front().data_type(), unwrap(multi_slice_grad(extents, gradients)));
}

void register_multi_slice() {
  define("BacksliceMultiSlice", {"x: T", "entries: int64"}, "y: N * T");
  define("BacksliceMultiSliceGrad", {"shape: int64", "entries: int64", "dy: N * T"}, "dx: T");
  register_kernel<MultiSlice>("BacksliceMultiSlice", all_types());
  register_kernel<MultiSliceGrad>("BacksliceMultiSliceGrad", all_types());
}

}  // namespace backslice::tensorflow
