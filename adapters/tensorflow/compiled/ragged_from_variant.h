// RaggedTensorFromVariant: the elements as the rows of one ragged tensor.
#pragma once

#include <limits>

#include "join.h"
#include "ragged_variants.h"
#include "replacement.h"
#include "row_splits.h"

namespace backslice_tensorflow {

class RaggedFromVariant : public Replacement {
 public:
  explicit RaggedFromVariant(OpKernelConstruction* made) : Replacement(made) {
    OP_REQUIRES_OK(made, made->GetAttr("input_ragged_rank", &input_rank_));
    OP_REQUIRES_OK(made, made->GetAttr("output_ragged_rank", &output_rank_));
    OP_REQUIRES_OK(made, made->GetAttr("Tvalues", &values_dtype_));
    OP_REQUIRES_OK(made, made->GetAttr("Tsplits", &splits_dtype_));
  }

 protected:
  // What does not fit is left to TensorFlow, which says why.
  absl::StatusOr<Done> run(OpKernelContext* context) override {
    const Tensor& encoded = context->input(0);
    const bool is_stack = output_rank_ == 0 && encoded.dims() > 0 && input_rank_ <= 0;
    const int input_rank = is_stack ? 0 : output_rank_ - encoded.dims();
    if (input_rank < 0 || (input_rank_ != -1 && input_rank_ != input_rank)) return Done::LeftToBuiltin;
    const auto elements = elements_of(encoded, input_rank);
    TF_RETURN_IF_ERROR(elements.status());
    if (static_cast<std::int64_t>(elements->size()) != encoded.NumElements()) return Done::LeftToBuiltin;
    if (encoded.dims() == 0) {
      set_outputs(context, *(*elements)[0]);
      return Done::Yes;
    }
    TensorShape shape;
    if (!joined_shape(*elements, is_stack, &shape)) return Done::LeftToBuiltin;
    if (!is_stack) TF_RETURN_IF_ERROR(write_splits(context, encoded.shape(), *elements, input_rank));
    const Source source{*elements};
    TF_RETURN_IF_ERROR(Join(context, values_dtype_, encoded.NumElements(), source).to_output(output_rank_, shape));
    return Done::Yes;
  }

 private:
  using Elements = std::vector<const RaggedTensorVariant*>;

  struct Source {
    const Elements& elements;

    const void* place(std::int64_t i) const { return elements[static_cast<std::size_t>(i)]; }
    bool find(std::int64_t i, Piece* piece) const {
      piece->values = &elements[static_cast<std::size_t>(i)]->values();
      piece->elements = piece->values->NumElements();
      return true;
    }
    absl::Status error(std::int64_t) const { return absl::OkStatus(); }
  };

  // Up to the first that TensorFlow refuses.
  absl::StatusOr<Elements> elements_of(const Tensor& encoded, int ragged_rank) const {
    Elements elements;
    elements.reserve(static_cast<std::size_t>(encoded.NumElements()));
    const auto* variants = reinterpret_cast<const Variant*>(data_of(encoded));
    for (std::int64_t i = 0; i < encoded.NumElements(); ++i) {
      const RaggedTensorVariant* element = variants_.find(variants[i]);
      if (element == nullptr || element->ragged_rank() != ragged_rank || element->values().dtype() != values_dtype_)
        break;
      for (const Tensor& list : element->nested_splits()) {
        if (list.dtype() != splits_dtype_ || list.dims() != 1) return elements;
      }
      TF_RETURN_IF_ERROR(check_splits(*element, i));
      elements.push_back(element);
    }
    return elements;
  }

  // TensorFlow takes these as they are. They are valid unless somebody made them by hand.
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

  // The shape of all values together; false where they do not fit each other.
  static bool joined_shape(const Elements& elements, bool is_stack, TensorShape* shape) {
    if (elements.empty()) {
      *shape = TensorShape({0});
      return true;
    }
    TensorShape first = elements[0]->values().shape();
    if (is_stack) {
      for (const auto* element : elements) {
        if (element->values().shape() != first) return false;
      }
      *shape = first;
      return shape->InsertDimWithStatus(0, static_cast<std::int64_t>(elements.size())).ok();
    }
    std::int64_t rows = 0;
    for (const auto* element : elements) {
      TensorShape other = element->values().shape();
      if (other.dims() == 0 || other.dims() != first.dims()) return false;
      if (__builtin_add_overflow(rows, other.dim_size(0), &rows)) return false;
      if (!other.SetDimWithStatus(0, first.dim_size(0)).ok() || other != first) return false;
    }
    *shape = first;
    return shape->SetDimWithStatus(0, rows).ok();
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
  const RaggedVariants variants_;
};

}  // namespace backslice_tensorflow
