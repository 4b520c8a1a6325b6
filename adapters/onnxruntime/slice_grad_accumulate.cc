// backslice::SliceGradAccumulate: the gradient of ONNX's Slice, added to an existing one.
#include "backslice/slice.h"
#include "core/errors.h"
#include "operators.h"
#include "slice_spec.h"

namespace backslice::onnxruntime {
namespace {

class SliceGradAccumulate {
 public:
  explicit SliceGradAccumulate(const Node& node) : slice_(node, 0) {}

  void compute(Call& call) const {
    if (call.inputs() != kFirst + 2) {
      refuse(invalid_argument("the node has ", call.inputs(), " inputs, expected ", kFirst + 2,
                              ": starts, ends, axes, steps (empty names leave the last two out), dX, dY"));
    }
    Input before = call.input(kFirst, "dX"), dy = call.input(kFirst + 1, "dY");
    const ElementType type = before.element_type();
    if (!can_add(type.dtype)) {
      refuse(invalid_argument("dX has dtype ", name_of(type), ", whose elements cannot be added"));
    }
    const Selection selection = unwrap(Selection::from_onnx(before.dims(), slice_.read(call)));
    const ConstView gradient = shaped_like(selection, dy), old = before.view();
    Output dx = call.output(selection.shape(), type);
    check(slice_into(Selection::all(selection.shape()), old, dx.view(), call.context()));
    check(slice_grad_into(selection, gradient, dx.view(), Write::Accumulate, call.context()));
    dx.finish();
  }

 private:
  static constexpr std::size_t kFirst = 4;  // dX, dY

  SliceInputs slice_;
};

// The two gradients are one variadic input: older versions of ONNX Runtime allow only one input of any type.
constexpr InputDescription kInputs[] = {{InputType::Index},             // starts
                                        {InputType::Index},             // ends
                                        {InputType::Index, kOptional},  // axes
                                        {InputType::Index, kOptional},  // steps
                                        {InputType::Any, kVariadic}};   // dX, dY

}  // namespace

constexpr OpDescription kSliceGradAccumulate = describe<SliceGradAccumulate>("SliceGradAccumulate", kInputs);

}  // namespace backslice::onnxruntime
