// RaggedTensorToVariant: one element per row, or all of it as one.
#pragma once

#include "ragged_variants.h"
#include "replacement.h"
#include "row_parts.h"
#include "rows.h"

namespace backslice_tensorflow {

class RaggedToVariant : public Replacement {
 public:
  explicit RaggedToVariant(OpKernelConstruction* made) : Replacement(made) {
    OP_REQUIRES_OK(made, made->GetAttr("batched_input", &is_batched_));
  }

 protected:
  // What is not valid is left to TensorFlow, which says why.
  absl::StatusOr<Done> run(OpKernelContext* context) override {
    tensorflow::OpInputList splits;
    TF_RETURN_IF_ERROR(context->input_list("rt_nested_splits", &splits));
    const Tensor& values = context->input(splits.size());
    if (!are_valid(splits, values)) return Done::LeftToBuiltin;
    if (!is_batched_) {
      TF_RETURN_IF_ERROR(encode_whole(context, splits, values));
    } else if (splits.size() == 0) {
      TF_RETURN_IF_ERROR(encode_dense(context, values));
    } else {
      TF_RETURN_IF_ERROR(encode_rows(context, splits, values));
    }
    return Done::Yes;
  }

 private:
  bool are_valid(const tensorflow::OpInputList& splits, const Tensor& values) const {
    if (values.dims() == 0) return !is_batched_ && splits.size() == 0;
    std::int64_t rows = values.dim_size(0);
    for (int level = splits.size() - 1; level >= 0; --level) {
      if (!is_row_splits(splits[level]) || RowSplits(splits[level]).last() != rows) return false;
      rows = RowSplits(splits[level]).rows();
    }
    return true;
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
