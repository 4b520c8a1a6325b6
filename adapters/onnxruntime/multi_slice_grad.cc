// backslice::MultiSliceGrad: the sum of the gradients of many slices of one tensor, in one pass over it.
#include "backslice/multi_slice.h"
#include "core/errors.h"
#include "operators.h"
#include "slice_spec.h"

namespace backslice::onnxruntime {
namespace {

// A matrix of numbers, one row per slice, or one row for all slices.
class Rows {
 public:
  Rows(const Input& input, std::size_t slices, bool may_be_shared) : values_(input.integers()) {
    const std::vector<std::int64_t> dims = input.dims();
    const bool is_shared = may_be_shared && dims.size() == 1;
    if (!is_shared && (dims.size() != 2 || static_cast<std::size_t>(dims[0]) != slices)) {
      refuse(invalid_argument(input.name(), " has shape ", Ints(dims), ", expected [", slices,
                              ", sliced axes]: one row per dY", may_be_shared ? ", or one list for all" : ""));
    }
    width_ = static_cast<std::size_t>(dims.back());
    stride_ = is_shared ? 0 : width_;
  }

  std::vector<std::int64_t> operator[](std::size_t slice) const {
    const auto first = values_.begin() + static_cast<std::ptrdiff_t>(slice * stride_);
    return {first, first + static_cast<std::ptrdiff_t>(width_)};
  }

 private:
  std::vector<std::int64_t> values_;
  std::size_t width_ = 0, stride_ = 0;
};

class Specs {
 public:
  Specs(const Call& call, std::size_t slices)
      : starts_(call.input(1, "starts"), slices, false), ends_(call.input(2, "ends"), slices, false) {
    if (const Input axes = call.optional_input(3, "axes"); axes.is_given()) axes_.emplace(axes, slices, true);
    if (const Input steps = call.optional_input(4, "steps"); steps.is_given()) steps_.emplace(steps, slices, true);
  }

  OnnxSlice operator[](std::size_t slice) const {
    return {.starts = starts_[slice], .ends = ends_[slice], .axes = row(axes_, slice), .steps = row(steps_, slice)};
  }

 private:
  static std::optional<std::vector<std::int64_t>> row(const std::optional<Rows>& rows, std::size_t slice) {
    if (!rows) return std::nullopt;
    return (*rows)[slice];
  }

  Rows starts_, ends_;
  std::optional<Rows> axes_, steps_;
};

class MultiSliceGrad {
 public:
  explicit MultiSliceGrad(const Node&) {}

  void compute(Call& call) const {
    if (call.inputs() <= kFirst) refuse(invalid_argument("there is no dY, expected one per slice"));
    const std::size_t count = call.inputs() - kFirst;
    const std::vector<std::int64_t> shape = call.input(0, "shape").list();
    const Specs specs(call, count);
    std::vector<Input> dys;
    std::vector<SliceGradient> slices;
    dys.reserve(count);  // views point into them
    slices.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      dys.push_back(call.input(kFirst + i, "dY[" + std::to_string(i) + "]"));
      const Selection selection = unwrap(Selection::from_onnx(shape, specs[i]));
      slices.push_back({selection, shaped_like(selection, dys.back())});
    }
    Output dx = call.output(slices[0].selection.shape(), dys[0].element_type());
    check(multi_slice_grad_into(shape, slices, dx.view(), Write::Overwrite, call.context()));
    dx.finish();
  }

 private:
  static constexpr std::size_t kFirst = 5;  // of the dY
};

constexpr InputDescription kInputs[] = {{InputType::Int64},             // shape
                                        {InputType::Index},             // starts
                                        {InputType::Index},             // ends
                                        {InputType::Index, kOptional},  // axes
                                        {InputType::Index, kOptional},  // steps
                                        {InputType::Any, kVariadic}};   // dY

}  // namespace

constexpr OpDescription kMultiSliceGrad = describe<MultiSliceGrad>("MultiSliceGrad", kInputs);

}  // namespace backslice::onnxruntime
