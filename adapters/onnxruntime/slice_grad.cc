#include <algorithm>

#include "backslice/slice.h"
#include "gradient_input.h"
#include "kept.h"
#include "operators.h"
#include "planned_gradient.h"
#include "slice_spec.h"

namespace backslice::onnxruntime {
namespace {

/// The arguments of a run, and their plan, which is made when they repeat.
struct Run {
  Run(std::vector<std::int64_t> its_shape, OnnxSlice its_slice)
      : lists(kept(its_shape, its_slice)), shape(std::move(its_shape)), slice(std::move(its_slice)) {}

  Selection selection() const { return unwrap(Selection::from_onnx(shape, slice)); }

  KeptLists lists;
  std::optional<PlannedGradient> planned;
  std::vector<std::int64_t> shape;
  OnnxSlice slice;
};

class SliceGrad {
 public:
  explicit SliceGrad(const Node& node) : shape_(node, 1, "shape"), slice_(node, 2), dy_(node, 0) {
    const auto slice = slice_.constant();
    const auto dy = node.input(0);
    if (!slice || !shape_.constant() || !dy) return;
    const Result<Selection> selection = Selection::from_onnx(*shape_.constant(), *slice);
    if (selection.ok()) planned_ = PlannedGradient::make(*selection, dy->type);  // errors are raised when it runs
  }

  void compute(Call& call) const {
    prefetch();
    const OrtValue* dy = call.value(0);
    if (dy == nullptr) return compute_once(call);  // compute_once() refuses it
    if (planned_) return compute_planned(call, dy);
    const Kept<std::optional<Run>>::Hold last(last_);
    if (!last) return compute_once(call);
    std::optional<Run>& run = *last;
    if (run && slice_.hold(call, shape_, run->lists)) return compute_again(call, dy, *run);
    std::vector<std::int64_t> shape = shape_.read_required(call);
    OnnxSlice slice = slice_.read(call);
    const Selection selection = unwrap(Selection::from_onnx(shape, slice));
    run.emplace(std::move(shape), std::move(slice));  // short lists: longer ones were refused
    compute(call, selection);
  }

 private:
  // A graph may have many nodes, whose data is evicted from the nearest cache between their turns.
  void prefetch() const {
    constexpr std::size_t kBytes = std::min<std::size_t>(sizeof(SliceGrad), 640);  // used by a small gradient
    for (std::size_t at = 0; at < kBytes; at += 64) __builtin_prefetch(reinterpret_cast<const std::byte*>(this) + at);
  }

  void compute_planned(Call& call, const OrtValue* dy) const {
    const TensorInfo info(call.api(), dy, "dY");
    if (!planned_->takes(info.type(), info.elements())) return compute_once(call);  // compute_once() refuses it
    planned_->run(call, call.data(dy));
  }

  void compute_again(Call& call, const OrtValue* dy, Run& run) const {
    const auto elements = run.planned ? dy_.taken(call, dy, *run.planned) : std::nullopt;
    if (elements) return run.planned->run(call, *elements);
    const Selection selection = run.selection();
    run.planned = PlannedGradient::make(selection, TensorInfo(call.api(), dy, "dY").type());
    compute(call, selection);
  }

  void compute_once(Call& call) const {
    compute(call, unwrap(Selection::from_onnx(shape_.read_required(call), slice_.read(call))));
  }

  static void compute(Call& call, const Selection& selection) {
    Input dy = call.input(0, "dY");
    const ConstView gradient = shaped_like(selection, dy);
    Output dx = call.output(selection.shape(), dy.element_type());
    check(slice_grad_into(selection, gradient, dx.view(), Write::Overwrite, call.context()));
    dx.finish();
  }

  ListInput shape_;
  SliceInputs slice_;
  GradientInput dy_;
  std::optional<PlannedGradient> planned_;  // if nothing of the slice changes
  mutable Kept<std::optional<Run>> last_;   // elsewhere
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
