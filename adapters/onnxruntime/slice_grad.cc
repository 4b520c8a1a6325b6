#include "backslice/slice.h"
#include "operators.h"
#include "slice_spec.h"

namespace backslice::onnxruntime {
namespace {

class SliceGrad {
 public:
  explicit SliceGrad(const Attributes&) {}

  void compute(Call& call) const {
    Input dy = call.input(0, "dY");
    const Selection selection = unwrap(Selection::from_onnx(call.input(1, "shape").list(), slice_spec(call, 2)));
    const ConstView gradient = shaped_like(selection, dy);
    Output dx = call.output(selection.shape(), dy.element_type());
    check(slice_grad_into(selection, gradient, dx.view(), Write::Overwrite, call.context()));
    dx.finish();
  }
};

constexpr InputDescription kInputs[] = {{InputType::Any},                // dY
                                        {InputType::Int64},              // shape
                                        {InputType::Index},              // starts
                                        {InputType::Index},              // ends
                                        {InputType::Index, kOptional},   // axes
                                        {InputType::Index, kOptional}};  // steps

}  // namespace

constexpr OpDescription kSliceGrad = describe<SliceGrad>("SliceGrad", kInputs);

}  // namespace backslice::onnxruntime
