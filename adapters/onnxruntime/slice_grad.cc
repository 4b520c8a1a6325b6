#include "backslice/prepared_slice.h"
#include "backslice/slice.h"
#include "operators.h"
#include "slice_spec.h"

namespace backslice::onnxruntime {
namespace {

class SliceGrad {
 public:
  explicit SliceGrad(const Node& node) : slice_(node, 2) {
    const auto shape = node.constant_list(1);
    if (!shape || !slice_.constant()) return;
    const auto type = node.input_type(0);
    const Result<Selection> selection = Selection::from_onnx(*shape, *slice_.constant());
    if (!type || !type->is_plain() || !selection.ok()) return;  // what is wrong is told when it runs
    Result<PreparedSlice> prepared = PreparedSlice::make(*selection, type->dtype);
    if (prepared.ok()) prepared_ = *std::move(prepared);
  }

  void compute(Call& call) const {
    if (prepared_) return compute(call, *prepared_);
    compute(call, unwrap(Selection::from_onnx(call.input(1, "shape").list(), slice_.read(call))));
  }

 private:
  static void compute(Call& call, const Selection& selection) {
    Input dy = call.input(0, "dY");
    const ConstView gradient = shaped_like(selection, dy);
    Output dx = call.output(selection.shape(), dy.element_type());
    check(slice_grad_into(selection, gradient, dx.view(), Write::Overwrite, call.context()));
    dx.finish();
  }

  static void compute(Call& call, const PreparedSlice& prepared) {
    Input dy = call.input(0, "dY");
    const ConstView gradient = shaped_like(prepared.y(), dy);
    const Output dx = call.output(prepared.x(), {prepared.dtype()});
    check(prepared.gradient(gradient, dx.view(), call.context()));
  }

  SliceInputs slice_;
  std::optional<PreparedSlice> prepared_;  // where nothing of the slice changes
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
