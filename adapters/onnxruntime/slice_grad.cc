#include "backslice/prepared_slice.h"
#include "backslice/slice.h"
#include "kept.h"
#include "operators.h"
#include "slice_spec.h"

namespace backslice::onnxruntime {
namespace {

/// The arguments of a run, and the plan for them: made once they come a second time.
struct Run {
  std::vector<std::int64_t> shape;
  OnnxSlice slice;
  std::optional<PreparedSlice> prepared;
};

class SliceGrad {
 public:
  explicit SliceGrad(const Node& node) : shape_(node, 1, "shape"), slice_(node, 2) {
    const auto slice = slice_.constant();
    const auto type = node.input(0);
    if (!slice || !shape_.constant() || !type) return;
    const Result<Selection> selection = Selection::from_onnx(*shape_.constant(), *slice);
    const auto element = element_type(type->type);
    if (selection.ok() && element) prepared_ = prepared(*selection, *element);  // what is wrong is told when it runs
  }

  void compute(Call& call) const {
    Input dy = call.input(0, "dY");
    if (prepared_) return compute(call, dy, *prepared_);
    std::unique_ptr<Run> last = last_.take();
    if (last && shape_.holds(call, &last->shape) && slice_.hold(call, last->slice)) {
      compute_again(call, dy, *last);
    } else {
      if (!last) last = std::make_unique<Run>();
      *last = {shape_.read_required(call), slice_.read(call), std::nullopt};
      compute(call, dy, unwrap(Selection::from_onnx(last->shape, last->slice)));
    }
    last_.put(std::move(last));
  }

 private:
  // Nothing for elements that ONNX Runtime keeps in a form of its own.
  static std::optional<PreparedSlice> prepared(const Selection& selection, ElementType type) {
    if (!type.is_plain()) return std::nullopt;
    Result<PreparedSlice> made = PreparedSlice::make(selection, type.dtype);
    return made.ok() ? std::optional(*std::move(made)) : std::nullopt;
  }

  static void compute_again(Call& call, Input& dy, Run& run) {
    if (!run.prepared) {
      const Selection selection = unwrap(Selection::from_onnx(run.shape, run.slice));
      run.prepared = prepared(selection, dy.element_type());
      if (!run.prepared) return compute(call, dy, selection);
    }
    compute(call, dy, *run.prepared);
  }

  static void compute(Call& call, Input& dy, const Selection& selection) {
    const ConstView gradient = shaped_like(selection, dy);
    Output dx = call.output(selection.shape(), dy.element_type());
    check(slice_grad_into(selection, gradient, dx.view(), Write::Overwrite, call.context()));
    dx.finish();
  }

  static void compute(Call& call, Input& dy, const PreparedSlice& prepared) {
    check_elements(dy, prepared.y().shape);
    void* dx = call.plain_output(prepared.x().shape, {prepared.dtype()});
    check(prepared.gradient(dy.data(), dx, call.context()));
  }

  ListInput shape_;
  SliceInputs slice_;
  std::optional<PreparedSlice> prepared_;  // where nothing of the slice changes
  mutable Kept<Run> last_;
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
