// backslice::RaggedGradient: the gradients of the rows of a ragged tensor, one after the other, with zeros for rows
// without one.
#include <algorithm>

#include "backslice/ragged_variant.h"
#include "core/errors.h"
#include "operators.h"

namespace backslice::onnxruntime {
namespace {

// Returns a read-only tensor in the memory of an input. Precondition: the input outlives it.
Tensor borrowed(const ConstView& view) {
  auto* data = const_cast<std::byte*>(view.data);
  return Tensor::of(Buffer::wrap(nullptr, data), View{data, view.dtype, view.layout});
}

class RaggedGradient {
 public:
  explicit RaggedGradient(const Node& node) : missing_(node.integers("missing")) {
    if (node.inputs() <= kFirst) refuse(invalid_argument("there are no pieces, expected at least one"));
    std::ranges::sort(missing_);
    check_missing(static_cast<std::int64_t>(node.inputs() - kFirst));
  }

  void compute(Call& call) const {
    Input splits = call.input(0, "row_splits");
    splits.check_list();
    const std::vector<std::int64_t> shape = call.input(1, "dense_values_shape").list();
    std::vector<Input> inputs;
    for (std::size_t i = kFirst; i < call.inputs(); ++i) {
      inputs.push_back(call.input(i, "pieces[" + std::to_string(i - kFirst) + "]"));
    }
    const VariantArray encoded = rows(inputs);
    Output values = call.output(unwrap(Shape::make(shape, "dense_values_shape")), inputs[0].element_type());
    check(ragged_tensor_to_variant_gradient_into(encoded, {borrowed(splits.view())}, shape, values.view(),
                                                 Write::Overwrite, call.context()));
    values.finish();
  }

 private:
  static constexpr std::size_t kFirst = 2;  // number of the pieces

  // Puts the pieces at the rows that have one.
  VariantArray rows(std::vector<Input>& inputs) const {
    const auto count = static_cast<std::int64_t>(inputs.size() + missing_.size());
    std::vector<std::optional<RaggedTensor>> elements(static_cast<std::size_t>(count));
    auto next = inputs.begin();
    for (std::int64_t row = 0; row < count; ++row) {
      if (std::ranges::binary_search(missing_, row)) continue;
      elements[static_cast<std::size_t>(row)] = unwrap(RaggedTensor::make(borrowed((next++)->view()), {}));
    }
    return unwrap(VariantArray::make(std::move(elements), {count}));
  }

  void check_missing(std::int64_t pieces) const {
    const std::int64_t rows = pieces + static_cast<std::int64_t>(missing_.size());
    for (const std::int64_t row : missing_) {
      if (row < 0 || row >= rows) {
        refuse(invalid_argument("missing has ", row, ", expected rows from 0 to ", rows - 1, ": there are ", pieces,
                                " pieces and ", missing_.size(), " missing ones"));
      }
    }
    if (const auto twice = std::ranges::adjacent_find(missing_); twice != missing_.end()) {
      refuse(invalid_argument("missing has ", *twice, " twice"));
    }
  }

  std::vector<std::int64_t> missing_;
};

constexpr InputDescription kInputs[] = {{InputType::Index},            // row_splits
                                        {InputType::Int64},            // dense_values_shape
                                        {InputType::Any, kVariadic}};  // pieces

}  // namespace

constexpr OpDescription kRaggedGradient = describe<RaggedGradient>("RaggedGradient", kInputs);

}  // namespace backslice::onnxruntime
