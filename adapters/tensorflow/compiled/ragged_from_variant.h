// RaggedTensorFromVariant: the elements as the rows of one ragged tensor.
#pragma once

#include <limits>

#include "join.h"
#include "kernel.h"
#include "ragged_variants.h"
#include "row_splits.h"

namespace backslice_tensorflow {

class RaggedFromVariant : public Kernel {
 public:
  explicit RaggedFromVariant(OpKernelConstruction* made) : Kernel(made) {
    OP_REQUIRES_OK(made, made->GetAttr("input_ragged_rank", &input_rank_));
    OP_REQUIRES_OK(made, made->GetAttr("output_ragged_rank", &output_rank_));
    OP_REQUIRES_OK(made, made->GetAttr("Tvalues", &values_dtype_));
    OP_REQUIRES_OK(made, made->GetAttr("Tsplits", &splits_dtype_));
  }

 protected:
  absl::Status run(OpKernelContext* context) override {
    const Tensor& encoded = context->input(0);
    int input_rank = 0;
    TF_RETURN_IF_ERROR(find_input_rank(encoded.dims(), &input_rank));
    Elements elements;
    TF_RETURN_IF_ERROR(find_elements(context, input_rank, &elements));
    if (encoded.dims() == 0) {
      set_outputs(context, *elements[0]);
      return absl::OkStatus();
    }
    TensorShape shape;
    TF_RETURN_IF_ERROR(output_rank_ == 0 ? stack_shapes(elements, &shape) : join_shapes(elements, &shape));
    if (output_rank_ > 0) TF_RETURN_IF_ERROR(write_splits(context, encoded.shape(), elements, input_rank));
    const Tensors source{[&](std::size_t i) -> const Tensor& { return elements[i]->values(); }};
    return Join(context, values_dtype_, encoded.NumElements(), source).to_output(output_rank_, shape);
  }

 private:
  using Elements = std::vector<const RaggedTensorVariant*>;

  // All checks are TensorFlow's, in its order and with its words, unless a comment says otherwise.
  absl::Status find_input_rank(int dims, int* rank) const {
    *rank = input_rank_ == -1 ? output_rank_ - dims : input_rank_;
    if (input_rank_ == -1 && output_rank_ == 0) *rank = 0;
    if (*rank < 0) {
      return invalid_argument(
          "Inferred input_ragged_rank (output_ragged_rank - encoded_variant.dims()) must be >= 0, "
          "found output_ragged_rank: ",
          output_rank_, ", encoded_variant.dims(): ", dims, ", inferred input_ragged_rank: ", *rank);
    }
    if ((output_rank_ == 0 && *rank == 0) || output_rank_ == dims + *rank) return absl::OkStatus();
    return invalid_argument(
        "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); "
        "output_ragged_rank: ",
        output_rank_, ", input_ragged_rank: ", *rank, ", encoded_variant.dims(): ", dims, ".");
  }

  absl::Status find_elements(OpKernelContext* context, int ragged_rank, Elements* elements) const {
    constexpr std::int64_t kCycles = 20'000;
    const Tensor& encoded = context->input(0);
    const auto* variants = reinterpret_cast<const Variant*>(data_of(encoded));
    elements->resize(static_cast<std::size_t>(encoded.NumElements()));
    return for_each_batch(context, encoded.NumElements(), kCycles, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) prefetch(variants[i].get<void>());
      for (std::int64_t i = begin; i < end; ++i) {
        const RaggedTensorVariant* const element = find_ragged(variants[i]);
        if (element == nullptr) return is_not_ragged(variants[i], i);
        TF_RETURN_IF_ERROR(check_element(*element, i, ragged_rank));
        TF_RETURN_IF_ERROR(check_splits(*element, i));
        (*elements)[static_cast<std::size_t>(i)] = element;
      }
      return absl::OkStatus();
    });
  }

  absl::Status check_element(const RaggedTensorVariant& element, std::int64_t i, int ragged_rank) const {
    using tensorflow::DataTypeString;
    const Tensor& values = element.values();
    if (element.ragged_rank() != ragged_rank) {
      return invalid_argument("Encoded input RaggedTensorVariant has ragged_rank=", element.ragged_rank(),
                              ".  Expected ragged_rank=", ragged_rank, ".");
    }
    if (values.dtype() != values_dtype_) {
      return invalid_argument("Expected values Tensor dtype: ", DataTypeString(values_dtype_),
                              ", found: ", DataTypeString(values.dtype()));
    }
    if (values.dims() < 1 && output_rank_ != 0) {
      return invalid_argument("Ragged values must have rank >= 1; encoded scalar element at index ", i,
                              " has values Tensor: ", values.DebugString());
    }
    for (const Tensor& list : element.nested_splits()) {
      if (list.dtype() != splits_dtype_) {
        return invalid_argument("Expected row_splits Tensor dtype: ", DataTypeString(splits_dtype_),
                                ", found: ", DataTypeString(list.dtype()));
      }
      if (list.dims() != 1) {
        return invalid_argument("Ragged splits must have rank 1; encoded scalar element at index ", i,
                                " has splits Tensor ", list.DebugString());
      }
    }
    return absl::OkStatus();
  }

  // TensorFlow does not check these. They are valid unless they were made by hand.
  static absl::Status check_splits(const RaggedTensorVariant& element, std::int64_t i) {
    if (element.ragged_rank() == 0) return absl::OkStatus();
    std::int64_t rows = element.values().dims() == 0 ? -1 : element.values().dim_size(0);
    for (int level = element.ragged_rank() - 1; level >= 0; --level) {
      const RowSplits list(element.splits(level));
      if (!list.are_valid() || list.last() != rows) {
        return invalid_argument("encoded_ragged[", i, "] has row splits ", level, " that are not valid for its ", rows,
                                " values or rows: ", element.splits(level).DebugString());
      }
      rows = list.rows();
    }
    return absl::OkStatus();
  }

  void set_outputs(OpKernelContext* context, const RaggedTensorVariant& element) const {
    for (int level = 0; level < output_rank_; ++level) context->set_output(level, element.splits(level));
    context->set_output(output_rank_, element.values());
  }

  // Values of one shape, with a new axis before it.
  static absl::Status stack_shapes(const Elements& elements, TensorShape* shape) {
    *shape = elements.empty() ? TensorShape() : elements[0]->values().shape();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const TensorShape& other = elements[i]->values().shape();
      if (other != *shape) return do_not_fit(*shape, i, other, "");
    }
    return shape->InsertDimWithStatus(0, static_cast<std::int64_t>(elements.size()));
  }

  // Values whose shapes differ on the first axis only, along that axis.
  static absl::Status join_shapes(const Elements& elements, TensorShape* shape) {
    *shape = elements.empty() ? TensorShape({0}) : elements[0]->values().shape();
    std::int64_t rows = 0;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const TensorShape& other = elements[i]->values().shape();
      if (other.dims() != shape->dims()) {
        return invalid_argument("Rank of values must match for all components; values shape at index 0: ",
                                shape->DebugString(), ", values shape at index ", i, ": ", other.DebugString());
      }
      if (__builtin_add_overflow(rows, other.dim_size(0), &rows)) {
        return invalid_argument("the values have more than 2**63 - 1 rows in all");
      }
    }
    for (std::size_t i = 1; i < elements.size(); ++i) {
      const TensorShape& other = elements[i]->values().shape();
      for (int axis = 1; axis < shape->dims(); ++axis) {
        if (other.dim_size(axis) != shape->dim_size(axis)) return do_not_fit(rest_of(*shape), i, rest_of(other), kHint);
      }
    }
    return shape->SetDimWithStatus(0, rows);
  }

  static constexpr const char* kHint =
      ".  If you are using tf.map_fn, then you may need to specify an explicit fn_output_signature with appropriate "
      "ragged_rank, and/or convert output tensors to RaggedTensors.";

  static TensorShape rest_of(TensorShape shape) {
    (void)shape.RemoveDimWithStatus(0);  // leaves it as it is where it cannot
    return shape;
  }

  static absl::Status do_not_fit(const TensorShape& first, std::size_t i, const TensorShape& other, const char* hint) {
    return invalid_argument("All flat_values must have compatible shapes.  Shape at index 0: ", first.DebugString(),
                            ".  Shape at index ", i, ": ", other.DebugString(), hint);
  }

  absl::Status write_splits(OpKernelContext* context, const TensorShape& encoded, const Elements& elements,
                            int input_rank) const {
    std::int64_t rows = 1;
    for (int axis = 0; axis + 1 < encoded.dims(); ++axis) {  // as many rows in each
      rows *= encoded.dim_size(axis);
      const std::int64_t length = encoded.dim_size(axis + 1);
      TF_RETURN_IF_ERROR(write_list(context, axis, rows + 1, [&](auto push) {
        for (std::int64_t i = 1; i <= rows; ++i) push(length);
      }));
    }
    const int outer = encoded.dims() - 1;
    TF_RETURN_IF_ERROR(write_list(context, outer, elements.size() + 1, [&](auto push) {
      for (const auto* element : elements) push(rows_of(*element));
    }));
    for (int level = 0; level < input_rank; ++level) {
      std::int64_t size = 1;
      for (const auto* element : elements) size += RowSplits(element->splits(level)).rows();
      TF_RETURN_IF_ERROR(write_list(context, outer + 1 + level, size, [&](auto push) {
        for (const auto* element : elements) {
          const RowSplits list(element->splits(level));
          for (std::int64_t i = 0; i < list.rows(); ++i) push(list[i + 1] - list[i]);
        }
      }));
    }
    return absl::OkStatus();
  }

  static std::int64_t rows_of(const RaggedTensorVariant& element) {
    return element.ragged_rank() > 0 ? RowSplits(element.splits(0)).rows() : element.values().dim_size(0);
  }

  template <class Lengths>
  absl::Status write_list(OpKernelContext* context, int output, std::int64_t size, const Lengths& lengths) const {
    Tensor* list = nullptr;
    TF_RETURN_IF_ERROR(context->allocate_output(output, TensorShape({size}), &list));
    return splits_dtype_ == tensorflow::DT_INT64 ? write_items(list->vec<std::int64_t>().data(), lengths)
                                                 : write_items(list->vec<std::int32_t>().data(), lengths);
  }

  template <class T, class Lengths>
  static absl::Status write_items(T* items, const Lengths& lengths) {
    std::int64_t sum = 0;
    *items++ = 0;
    lengths([&](std::int64_t length) {
      sum += length;
      *items++ = static_cast<T>(sum);
    });
    if (sum <= std::numeric_limits<T>::max()) return absl::OkStatus();
    return invalid_argument("the row splits end at ", sum, ", which int32 does not hold: pass Tsplits=int64");
  }

  int input_rank_, output_rank_;
  DataType values_dtype_, splits_dtype_;
};

}  // namespace backslice_tensorflow
