// RaggedTensorToVariantGradient: the pieces one after the other, zeros in the place of those that are missing.
//
// TensorFlow's own kernel does not check that they add up to the result, and reads or writes past the end where they do
// not.
#pragma once

#include "join.h"
#include "replacement.h"
#include "row_splits.h"
#include "tensorflow/core/framework/tensor_util.h"
#include "tensorflow/core/framework/variant.h"
#include "tensorflow/core/kernels/ragged_tensor_variant.h"

namespace backslice_tensorflow {

using tensorflow::RaggedTensorVariant;
using tensorflow::Variant;

class RaggedGradient : public Replacement {
 public:
  explicit RaggedGradient(OpKernelConstruction* made) : Replacement(made) {
    OP_REQUIRES_OK(made, made->GetAttr("Tvalues", &dtype_));
  }

 protected:
  absl::StatusOr<Done> run(OpKernelContext* context) override {
    TensorShape shape;
    TF_RETURN_IF_ERROR(shape_from(context->input(2), &shape));
    const Tensor& encoded = context->input(0);
    const auto* elements = reinterpret_cast<const Variant*>(data_of(encoded));
    Pieces pieces(dtype_);
    MissingPieces missing(context->input(1), encoded.NumElements(), shape);
    TF_RETURN_IF_ERROR(missing.check());
    std::int64_t room = shape.num_elements();
    for (std::int64_t i = 0; i < encoded.NumElements(); ++i) {
      TF_RETURN_IF_ERROR(push(elements[i], i, missing, &room, &pieces));
    }
    if (room != 0) {
      return invalid_argument("the ", encoded.NumElements(), " pieces have ", shape.num_elements() - room,
                              " elements in all, but dense_values_shape ", shape.DebugString(), " has ",
                              shape.num_elements());
    }
    TF_RETURN_IF_ERROR(pieces.join(context, shape, 0));
    return Done::Yes;
  }

 private:
  static absl::Status shape_from(const Tensor& dims, TensorShape* shape) {
    if (dims.dims() != 1) {
      return invalid_argument("dense_values_shape must be a vector, got shape ", dims.shape().DebugString());
    }
    return tensorflow::tensor::MakeShape(dims, shape);
  }

  // The elements of pieces that are missing, as the row splits say.
  class MissingPieces {
   public:
    MissingPieces(const Tensor& splits, std::int64_t pieces, const TensorShape& shape)
        : tensor_(splits), splits_(splits), pieces_(pieces), shape_(shape) {}

    absl::Status check() const {
      if (tensor_.dims() == 0) return absl::OkStatus();  // as TensorFlow passes for dense values
      if (!is_row_splits(tensor_)) {
        return invalid_argument("row_splits must be a vector that starts with 0 and does not decrease, got ",
                                tensor_.DebugString());
      }
      if (splits_.rows() >= pieces_) return absl::OkStatus();
      return invalid_argument("row_splits is for ", splits_.rows(), " rows, but there are ", pieces_, " pieces");
    }

    absl::StatusOr<std::int64_t> elements(std::int64_t i) const {
      if (tensor_.dims() == 0 || shape_.dims() == 0) {
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
    const std::int64_t pieces_;
    const TensorShape& shape_;
  };

  absl::Status push(const Variant& element, std::int64_t i, const MissingPieces& missing, std::int64_t* room,
                    Pieces* pieces) const {
    if (element.is_empty()) {
      const auto count = missing.elements(i);
      TF_RETURN_IF_ERROR(count.status());
      TF_RETURN_IF_ERROR(take(i, *count, room));
      pieces->push_zeros(*count);
      return absl::OkStatus();
    }
    const auto* piece = element.get<RaggedTensorVariant>();
    if (piece == nullptr) {
      return invalid_argument("Input Variant element at index ", i,
                              " doesn't hold a RaggedTensorVariant: ", element.DebugString());
    }
    const Tensor& values = piece->values();
    if (values.dtype() != dtype_) {
      return invalid_argument("piece ", i, " has dtype ", tensorflow::DataTypeString(values.dtype()), ", expected ",
                              tensorflow::DataTypeString(dtype_));
    }
    TF_RETURN_IF_ERROR(take(i, values.NumElements(), room));
    pieces->push(values);
    return absl::OkStatus();
  }

  static absl::Status take(std::int64_t i, std::int64_t count, std::int64_t* room) {
    if (count > *room) {
      return invalid_argument("piece ", i, " of ", count, " elements does not fit: dense_values_shape has room for ",
                              *room, " more after the pieces before it");
    }
    *room -= count;
    return absl::OkStatus();
  }

  DataType dtype_;
};

}  // namespace backslice_tensorflow
