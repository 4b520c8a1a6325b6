#include <string_view>

#include "data_types.h"
#include "reference.h"
#include "slice_kernels.h"

namespace backslice::tensorflow {
namespace {

// TensorFlow's words: it checks this list before it looks at the slice.
void check_extents(Ints shape) {
  for (const std::int64_t extent : shape)
    if (extent < 0) refuse("Dimension ", extent, " must be >= 0");
  Result<Shape> checked = Shape::make(shape);
  if (!checked && shape.size() <= kMaxRank) refuse("Shape ", shape, " would have more than 2**63 - 1 elements");
  unwrap(std::move(checked));
}

// Our errors contain TensorFlow's and more, except for a scalar, which TensorFlow distinguishes.
Status in_tensorflow_words(Status status) {
  constexpr std::string_view kPastTheEnd = "Index out of range using input dim 0;";
  if (!status.message().starts_with(kPastTheEnd)) return status;
  return {status.code(), "Attempting to slice scalar input." + status.message().substr(kPastTheEnd.size())};
}

Status out_of_memory(Ints shape, const Input& dy, const Status& status) {
  std::ostringstream message;
  message << "OOM when allocating tensor with shape" << shape << " and type " << name_of(dy.data_type()) << ": ";
  return {status.code(), std::move(message).str() + status.message()};
}

}  // namespace

StridedSlice::StridedSlice(const Attributes& attributes) {
  masks_.begin_mask = attributes.integer("begin_mask");
  masks_.end_mask = attributes.integer("end_mask");
  masks_.ellipsis_mask = attributes.integer("ellipsis_mask");
  masks_.new_axis_mask = attributes.integer("new_axis_mask");
  masks_.shrink_axis_mask = attributes.integer("shrink_axis_mask");
}

TfSlice StridedSlice::slice(const Call& call, int first) const {
  const Input begin = call.input(first), end = call.input(first + 1), strides = call.input(first + 2);
  const bool are_vectors = begin.rank() == 1 && end.rank() == 1 && strides.rank() == 1;
  if (!are_vectors || begin.dims()[0] != end.dims()[0] || begin.dims()[0] != strides.dims()[0] || begin.dims()[0] >= 32)
    refuse("Expected begin, end, and strides to be 1D equal size tensors, but got shapes ", begin.dims(), ", ",
           end.dims(), ", and ", strides.dims(), " instead.");
  TfSlice slice = masks_;
  slice.begin = begin.integers();
  slice.end = end.integers();
  slice.strides = strides.integers();
  return slice;
}

void StridedSlice::compute(Call& call, bool is_fast) const {
  Input x = call.input(0);
  const ConstView view = x.view();
  const Result<Selection> selection = Selection::from_tf(view.shape(), slice(call, 1));
  if (!selection) throwing::refuse(in_tensorflow_words(selection.status()));
  if (is_fast) return set_slices(call, {&*selection, 1}, view, x.data_type());
  call.set_output(0, x.data_type(), unwrap(reference::slice(*selection, view)));
}

void StridedSliceGrad::compute(Call& call, bool is_fast) const {
  const Input shape = call.input(0);
  if (shape.rank() != 1) refuse("shape must be 1-D, got shape.shape = ", shape.dims());
  const std::vector<std::int64_t> extents = shape.integers();
  check_extents(extents);
  const TfSlice spec = slice(call, 1);
  Input dy = call.input(4);
  const ConstView view = dy.view();
  const Result<Tensor> dx =
      is_fast ? strided_slice_grad(extents, spec, view) : reference::strided_slice_grad(extents, spec, view);
  if (dx) return call.set_output(0, dy.data_type(), *dx);
  const bool is_too_large = dx.status().code() == StatusCode::ResourceExhausted;
  throwing::refuse(is_too_large ? out_of_memory(extents, dy, dx.status()) : in_tensorflow_words(dx.status()));
}

}  // namespace backslice::tensorflow
