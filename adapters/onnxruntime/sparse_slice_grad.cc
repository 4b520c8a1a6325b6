// backslice::SparseSliceGrad: the gradient of the values of a sparse tensor that was sliced.
#include "backslice/sparse_slice.h"
#include "core/errors.h"
#include "operators.h"

namespace backslice::onnxruntime {
namespace {

MatchOrder order_of(const std::string& text) {
  if (text == "in_order") return MatchOrder::InOrder;
  if (text == "any") return MatchOrder::Any;
  refuse(invalid_argument("order is \"", text, "\", expected \"in_order\" or \"any\""));
}

class SparseSliceGrad {
 public:
  explicit SparseSliceGrad(const Node& node) : order_(order_of(node.text("order", "in_order"))) {}

  void compute(Call& call) const {
    Input grad = call.input(0, "backprop_val_grad"), input = call.input(1, "input_indices"),
          output = call.input(3, "output_indices");
    const std::vector<std::int64_t> start = call.input(2, "input_start").list();
    const CooIndices rows = unwrap(CooIndices::from_matrix(input.view(), "input_indices"));
    const CooIndices taken = unwrap(CooIndices::from_matrix(output.view(), "output_indices"));
    const ConstView gradient = grad.view();
    Output dx = call.output(values_shape(rows, gradient), grad.element_type());
    check(sparse_slice_grad_into(gradient, rows, start, taken, dx.view(), order_, Write::Overwrite, call.context()));
    dx.finish();
  }

 private:
  // One row per entry, each like those of grad.
  static Shape values_shape(const CooIndices& rows, const ConstView& grad) {
    if (grad.shape().rank() == 0)
      refuse(invalid_argument("backprop_val_grad is a scalar, expected one row per output index"));
    std::vector<std::int64_t> dims(grad.shape().begin(), grad.shape().end());
    dims[0] = rows.rows();
    return unwrap(Shape::make(dims, "the result"));
  }

  MatchOrder order_;
};

constexpr InputDescription kInputs[] = {{InputType::Any},     // backprop_val_grad
                                        {InputType::Index},   // input_indices
                                        {InputType::Index},   // input_start
                                        {InputType::Index}};  // output_indices

}  // namespace

constexpr OpDescription kSparseSliceGrad = describe<SparseSliceGrad>("SparseSliceGrad", kInputs);

}  // namespace backslice::onnxruntime
