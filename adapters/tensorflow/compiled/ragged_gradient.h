// RaggedTensorToVariantGradient: the pieces one after the other, with zeros for missing ones.
//
// TensorFlow's own kernel does not check that they add up to the result. If they do not, it reads or writes past the
// end.
#pragma once

#include "join.h"
#include "kernel.h"
#include "ragged_variants.h"
#include "row_splits.h"
#include "tensorflow/core/framework/tensor_util.h"

namespace backslice_tensorflow {

class RaggedGradient : public Kernel {
 public:
  explicit RaggedGradient(OpKernelConstruction* made) : Kernel(made) {
    OP_REQUIRES_OK(made, made->GetAttr("Tvalues", &dtype_));
  }

 protected:
  absl::Status run(OpKernelContext* context) override {
    TensorShape shape;
    TF_RETURN_IF_ERROR(shape_from(context->input(2), &shape));
    const Tensor &encoded = context->input(0), &splits = context->input(1);
    if (splits.dims() > 0) TF_RETURN_IF_ERROR(check_row_splits(splits));  // TensorFlow passes a scalar for dense values
    const auto* elements = reinterpret_cast<const Variant*>(data_of(encoded));
    const MissingPieces missing(splits, encoded.dims() > 0, shape);
    const Source source{*this, elements, missing};
    return Join(context, dtype_, encoded.NumElements(), source).to_output(0, shape);
  }

 private:
  static absl::Status shape_from(const Tensor& dims, TensorShape* shape) {
    if (dims.dims() != 1) {
      return invalid_argument("dense_values_shape must be a vector, got shape ", dims.shape().DebugString());
    }
    return tensorflow::tensor::MakeShape(dims, shape);
  }

  // The number of elements of a missing piece, from the row splits; of all elements where one piece encodes all rows.
  class MissingPieces {
   public:
    MissingPieces(const Tensor& splits, bool is_batched, const TensorShape& shape)
        : tensor_(splits), splits_(splits), is_batched_(is_batched), shape_(shape) {}

    absl::StatusOr<std::int64_t> elements(std::int64_t i) const {
      if (!is_batched_) return shape_.num_elements();
      if (tensor_.dims() == 0 || shape_.dims() == 0 || i >= splits_.rows()) {
        return invalid_argument("piece ", i, " is missing, and its size cannot be told: row_splits is ",
                                tensor_.DebugString(), ", dense_values_shape ", shape_.DebugString());
      }
      const std::int64_t rows = splits_[i + 1] - splits_[i];
      std::int64_t count = rows;
      for (int axis = 1; axis < shape_.dims(); ++axis) {
        if (count == 0) return 0;
        if (__builtin_mul_overflow(count, shape_.dim_size(axis), &count)) {
          return invalid_argument("piece ", i, " is missing, and its ", rows, " rows of dense_values_shape ",
                                  shape_.DebugString(), " have more than 2**63 - 1 elements");
        }
      }
      return count;
    }

   private:
    const Tensor& tensor_;
    const RowSplits splits_;
    const bool is_batched_;
    const TensorShape& shape_;
  };

  struct Source {
    const RaggedGradient& kernel;
    const Variant* elements;
    const MissingPieces& missing;

    const void* place(std::int64_t i) const { return elements[i].get<void>(); }

    bool find(std::int64_t i, Piece* piece) const {
      const RaggedTensorVariant* const found = find_ragged(elements[i]);
      if (found == nullptr) return find_missing(i, piece).ok();
      piece->values = &found->values();
      piece->elements = piece->values->NumElements();
      return piece->values->dtype() == kernel.dtype_;
    }

    absl::Status error(std::int64_t i) const {
      const RaggedTensorVariant* const found = find_ragged(elements[i]);
      Piece piece;
      if (found == nullptr) return find_missing(i, &piece);
      return invalid_argument("piece ", i, " has dtype ", tensorflow::DataTypeString(found->values().dtype()),
                              ", expected ", tensorflow::DataTypeString(kernel.dtype_));
    }

    absl::Status find_missing(std::int64_t i, Piece* piece) const {
      if (!is_missing(elements[i])) return is_not_ragged(elements[i], i);
      const auto count = missing.elements(i);
      if (count.ok()) piece->elements = *count;
      return count.status();
    }
  };

  DataType dtype_;
};

}  // namespace backslice_tensorflow
