// RaggedTensorToVariant: one element per row, or all of it as one.
#pragma once

#include "kernel.h"
#include "ragged_variants.h"
#include "row_parts.h"
#include "rows.h"

namespace backslice_tensorflow {

class RaggedToVariant : public Kernel {
 public:
  explicit RaggedToVariant(OpKernelConstruction* made) : Kernel(made) {
    OP_REQUIRES_OK(made, made->GetAttr("batched_input", &is_batched_));
  }

 protected:
  absl::Status run(OpKernelContext* context) override {
    tensorflow::OpInputList splits;
    TF_RETURN_IF_ERROR(context->input_list("rt_nested_splits", &splits));
    const Tensor& values = context->input(splits.size());
    TF_RETURN_IF_ERROR(check(splits, values));
    if (!is_batched_) return encode_whole(context, splits, values);
    return splits.size() == 0 ? encode_dense(context, values) : encode_rows(context, splits, values);
  }

 private:
  // In TensorFlow's words.
  absl::Status check(const tensorflow::OpInputList& splits, const Tensor& values) const {
    if (values.dims() == 0 && splits.size() > 0) {
      return invalid_argument("Requires flat_values to have rank>=1 when nested_row_splits is not empty, but is 0.");
    }
    if (values.dims() == 0) {
      return is_batched_ ? invalid_argument("Can't unbatch rank-0 tensor.") : absl::OkStatus();
    }
    std::int64_t rows = values.dim_size(0);
    for (int level = splits.size() - 1; level >= 0; --level) {
      TF_RETURN_IF_ERROR(check_row_splits(splits[level], rows));
      rows = RowSplits(splits[level]).rows();
    }
    return absl::OkStatus();
  }

  static absl::Status encode_whole(OpKernelContext* context, const tensorflow::OpInputList& splits,
                                   const Tensor& values) {
    Tensor* encoded = nullptr;
    TF_RETURN_IF_ERROR(context->allocate_output(0, TensorShape({}), &encoded));
    encoded->scalar<Variant>()() = RaggedTensorVariant(values, std::vector<Tensor>(splits.begin(), splits.end()));
    return absl::OkStatus();
  }

  // Items of the first axis, of one rank less.
  static absl::Status encode_dense(OpKernelContext* context, const Tensor& values) {
    Tensor splits;
    TF_RETURN_IF_ERROR(context->allocate_temp(tensorflow::DT_INT64, TensorShape({values.dim_size(0) + 1}), &splits));
    auto list = splits.vec<std::int64_t>();
    for (std::int64_t i = 0; i < list.size(); ++i) list(i) = i;
    TensorShape shape = values.shape();
    if (shape.dim_size(0) > 0) shape.RemoveDim(0);  // without rows nobody asks, and what is left may be too large
    return encode(context, values, RowSplits(splits), [&](std::int64_t) { return shape; }, no_splits);
  }

  static absl::Status encode_rows(OpKernelContext* context, const tensorflow::OpInputList& splits,
                                  const Tensor& values) {
    std::vector<RowSplits> lists;
    for (const Tensor& list : splits) lists.emplace_back(list);
    const DataType dtype = splits[0].dtype();
    Tensor joined;  // where each row's values begin
    TF_RETURN_IF_ERROR(context->allocate_temp(tensorflow::DT_INT64, TensorShape({lists[0].size()}), &joined));
    auto starts = joined.vec<std::int64_t>();
    for (std::int64_t i = 0; i < lists[0].size(); ++i) {
      starts(i) = i;
      for (const RowSplits& list : lists) starts(i) = list[starts(i)];
    }
    TensorShape shape = values.shape();
    const auto shape_of = [&](std::int64_t i) -> const TensorShape& {
      shape.set_dim(0, starts(i + 1) - starts(i));
      return shape;
    };
    const auto inner = [&](std::int64_t i, std::vector<Tensor>* made) {
      return inner_splits(context, lists, dtype, i, made);
    };
    return encode(context, values, RowSplits(joined), shape_of, inner);
  }

  static absl::Status no_splits(std::int64_t, std::vector<Tensor>*) { return absl::OkStatus(); }

  // The splits of row i below the outermost ones, each from 0.
  static absl::Status inner_splits(OpKernelContext* context, const std::vector<RowSplits>& lists, DataType dtype,
                                   std::int64_t i, std::vector<Tensor>* made) {
    std::int64_t from = lists[0][i], to = lists[0][i + 1];
    for (std::size_t level = 1; level < lists.size(); ++level) {
      const RowSplits& list = lists[level];
      Tensor rebased;
      TF_RETURN_IF_ERROR(context->allocate_temp(dtype, TensorShape({to - from + 1}), &rebased));
      for (std::int64_t k = from; k <= to; ++k) {
        if (dtype == tensorflow::DT_INT64) {
          rebased.vec<std::int64_t>()(k - from) = list[k] - list[from];
        } else {
          rebased.vec<std::int32_t>()(k - from) = static_cast<std::int32_t>(list[k] - list[from]);
        }
      }
      made->push_back(std::move(rebased));
      from = list[from];
      to = list[to];
    }
    return absl::OkStatus();
  }

  template <class ShapeOf, class InnerSplits>
  static absl::Status encode(OpKernelContext* context, const Tensor& values, RowSplits splits, const ShapeOf& shape_of,
                             const InnerSplits& inner) {
    Tensor* encoded = nullptr;
    TF_RETURN_IF_ERROR(context->allocate_output(0, TensorShape({splits.rows()}), &encoded));
    auto elements = encoded->vec<Variant>();
    absl::Status status;
    RowMaker maker;
    const auto take = [&](std::int64_t i, const char* data, std::int64_t bytes, TensorBuffer* block) {
      std::vector<Tensor> made;
      if (status.ok()) status = inner(i, &made);
      if (!status.ok()) return;
      Tensor row = data == nullptr ? Tensor(values.dtype(), shape_of(i))
                                   : maker.make(block, data, bytes, values.dtype(), shape_of(i));
      elements(i) = RaggedTensorVariant(std::move(row), made);
    };
    TF_RETURN_IF_ERROR(Rows(values, splits).for_each(context, take));
    return status;
  }

  bool is_batched_;
};

}  // namespace backslice_tensorflow
