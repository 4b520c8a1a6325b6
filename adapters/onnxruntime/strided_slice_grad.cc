// backslice::StridedSliceGrad: the gradient of TensorFlow's StridedSlice.
#include <limits>

#include "backslice/slice.h"
#include "core/errors.h"
#include "operators.h"

namespace backslice::onnxruntime {
namespace {

std::int32_t mask(const Node& node, const char* name) {
  const std::int64_t value = node.integer(name, 0);
  if (value == static_cast<std::int32_t>(value)) return static_cast<std::int32_t>(value);
  refuse(invalid_argument(name, " is ", value, ", expected a number of 32 bits"));
}

class StridedSliceGrad {
 public:
  explicit StridedSliceGrad(const Node& node)
      : masks_{.begin_mask = mask(node, "begin_mask"),
               .end_mask = mask(node, "end_mask"),
               .ellipsis_mask = mask(node, "ellipsis_mask"),
               .new_axis_mask = mask(node, "new_axis_mask"),
               .shrink_axis_mask = mask(node, "shrink_axis_mask")} {}

  void compute(Call& call) const {
    Input dy = call.input(4, "dy");
    const Selection selection = unwrap(Selection::from_tf(call.input(0, "shape").list(), spec(call)));
    const ConstView gradient = dy.view();
    Output dx = call.output(selection.shape(), dy.element_type());
    check(slice_grad_into(selection, gradient, dx.view(), Write::Overwrite, call.context()));
    dx.finish();
  }

 private:
  TfSlice spec(const Call& call) const {
    TfSlice slice = masks_;
    slice.begin = call.input(1, "begin").list();
    slice.end = call.input(2, "end").list();
    slice.strides = call.input(3, "strides").list();
    return slice;
  }

  TfSlice masks_;
};

constexpr InputDescription kInputs[] = {{InputType::Index},  // shape
                                        {InputType::Index},  // begin
                                        {InputType::Index},  // end
                                        {InputType::Index},  // strides
                                        {InputType::Any}};   // dy

}  // namespace

constexpr OpDescription kStridedSliceGrad = describe<StridedSliceGrad>("StridedSliceGrad", kInputs);

}  // namespace backslice::onnxruntime
