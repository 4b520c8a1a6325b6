// The kernels of the TensorArrayV3 family that abort on some arguments: those get an error, and TensorFlow's own kernel
// does the rest. So arrays are TensorFlow's, whichever kernel made them.
#pragma once

#include <algorithm>
#include <limits>

#include "tensor_array_state.h"

namespace backslice_tensorflow {

// TensorFlow's kernel, once its arguments have been checked for what it does not check itself.
class Checked : public Replacement {
 public:
  using Replacement::Replacement;

 protected:
  absl::StatusOr<Done> run(OpKernelContext* context) final {
    TF_RETURN_IF_ERROR(check_handle(context));
    TF_RETURN_IF_ERROR(check(context));
    return Done::LeftToBuiltin;
  }

  virtual absl::Status check(OpKernelContext* context) { return absl::OkStatus(); }

 private:
  absl::Status check_handle(OpKernelContext* context) const {
    const bool has_handle = context->input_dtype(0) == tensorflow::DT_RESOURCE;
    if (!has_handle || context->input(0).NumElements() > 0) return absl::OkStatus();
    return invalid_argument(type_string(), ": handle has no elements, expected one; its shape is ",
                            context->input(0).shape().DebugString());
  }
};

class CheckedMake : public Checked {
 public:
  using Checked::Checked;

 protected:
  absl::Status check(OpKernelContext* context) override {
    const Tensor& size = context->input(0);
    return size.dims() == 0 ? check_room_for(size.scalar<std::int32_t>()()) : absl::OkStatus();
  }
};

class CheckedGradWithShape : public Checked {
 public:
  using Checked::Checked;

 protected:
  absl::Status check(OpKernelContext* context) override {
    const auto array = array_of(context);
    const Tensor& prepend = context->input(2);
    TensorShape front;
    const bool is_shape =
        prepend.dims() == 1 &&
        tensorflow::TensorShapeUtils::MakeShape(prepend.vec<std::int32_t>().data(), prepend.dim_size(0), &front).ok();
    if (array == nullptr || !is_shape) return absl::OkStatus();
    return check_shapes(*array, [&](const TensorShape& element) {
      TensorShape whole = front;
      return fits(whole.AppendShapeWithStatus(element), "shape_to_prepend does not fit before", element);
    });
  }
};

class CheckedWrite : public Checked {
 public:
  using Checked::Checked;

 protected:
  absl::Status check(OpKernelContext* context) override {
    const Tensor& index = context->input(1);
    if (index.dims() != 0) return absl::OkStatus();
    return check_growth(context, index.scalar<std::int32_t>()());
  }

  // A dynamic array makes room for twice as many.
  static absl::Status check_growth(OpKernelContext* context, std::int64_t index) {
    const auto array = array_of(context);
    return array != nullptr && array->HasDynamicSize() ? check_room_for(2 * (index + 1)) : absl::OkStatus();
  }
};

inline std::int64_t largest(const Tensor& indices) {
  const auto list = indices.flat<std::int32_t>();
  return list.size() == 0 ? -1 : *std::max_element(list.data(), list.data() + list.size());
}

class CheckedScatter : public CheckedWrite {
 public:
  using CheckedWrite::CheckedWrite;

 protected:
  absl::Status check(OpKernelContext* context) override {
    TensorShape row = context->input(2).shape();
    if (row.dims() > 0)
      TF_RETURN_IF_ERROR(fits(row.RemoveDimWithStatus(0), "cannot take apart", context->input(2).shape()));
    const std::int64_t index = largest(context->input(1));
    const bool is_refused = index == std::numeric_limits<std::int32_t>::max();  // by TensorFlow, for want of a next one
    return is_refused ? absl::OkStatus() : check_growth(context, index);
  }
};

class CheckedRead : public Checked {
 public:
  using Checked::Checked;

 protected:
  absl::Status check(OpKernelContext* context) override {
    const Tensor& index = context->input(1);
    return index.dims() == 0 ? check_growth(context, index.scalar<std::int32_t>()()) : absl::OkStatus();
  }

  // Reading past the end of a gradient array makes it longer.
  static absl::Status check_growth(OpKernelContext* context, std::int64_t index) {
    const auto array = array_of(context);
    return array != nullptr && is_gradient(*array) ? check_room_for(index + 1) : absl::OkStatus();
  }
};

class CheckedGather : public CheckedRead {
 public:
  explicit CheckedGather(OpKernelConstruction* made) : CheckedRead(made) {
    OP_REQUIRES_OK(made, made->GetAttr("element_shape", &element_shape_));
  }

 protected:
  absl::Status check(OpKernelContext* context) override {
    const Tensor& indices = context->input(1);
    TF_RETURN_IF_ERROR(check_growth(context, largest(indices)));
    const auto array = array_of(context);
    if (array == nullptr) return absl::OkStatus();
    TensorShape whole;
    for (const auto& shape : {element_shape_, array->ElemShape()}) {
      if (shape.AsTensorShape(&whole)) TF_RETURN_IF_ERROR(check_stack(whole, indices.NumElements()));
    }
    const tensorflow::mutex_lock lock(*array->mu());
    const auto& elements = elements_of(*array);
    const auto list = indices.flat<std::int32_t>();
    for (std::int64_t i = 0; i < list.size(); ++i) {
      const auto at = static_cast<std::size_t>(list(i));
      if (list(i) >= 0 && at < elements.size()) TF_RETURN_IF_ERROR(check_stack(elements[at].shape, list.size()));
    }
    return absl::OkStatus();
  }

 private:
  // Where there are elements, it is the memory that does not suffice.
  static absl::Status check_stack(const TensorShape& element, std::int64_t count) {
    TensorShape stack = element;
    const absl::Status made = fits(stack.InsertDimWithStatus(0, count), "cannot stack", element);
    const bool is_memory = !made.ok() && element.dims() < TensorShape::MaxDimensions() && element.num_elements() > 0;
    return is_memory ? resource_exhausted(made.message()) : made;
  }

  tensorflow::PartialTensorShape element_shape_;
};

class CheckedConcat : public Checked {
 public:
  using Checked::Checked;

 protected:
  absl::Status check(OpKernelContext* context) override {
    const auto array = array_of(context);
    if (array == nullptr) return absl::OkStatus();
    set_size(*array);
    TF_RETURN_IF_ERROR(check_shapes(*array, [](const TensorShape& element) {
      TensorShape row = element;
      if (row.dims() == 0) return absl::OkStatus();
      return fits(row.RemoveDimWithStatus(0), "cannot concatenate", element);
    }));
    return check_result(*array);
  }

 private:
  // A gradient array concatenates as many elements as its forward array was last split into: -1 of them, if it never
  // was.
  static void set_size(TensorArray& array) {
    const tensorflow::mutex_lock lock(*array.mu());
    std::int32_t& size = concatenated_size_of(array);
    if (is_gradient(array) && size < 0) size = static_cast<std::int32_t>(elements_of(array).size());
  }

  // All rows together, where they are without elements: of those there may be any number.
  static absl::Status check_result(TensorArray& array) {
    TensorShape whole;
    const bool is_known = array.ElemShape().AsTensorShape(&whole);
    const tensorflow::mutex_lock lock(*array.mu());
    std::int64_t rows = 0;
    for (const auto& element : elements_of(array)) {
      const TensorShape& shape = element.written || !is_known ? element.shape : whole;
      if (shape.dims() == 0 || shape.num_elements() > 0) return absl::OkStatus();
      TensorShape all = shape;
      const bool overflows = __builtin_add_overflow(rows, shape.dim_size(0), &rows);
      if (overflows || !all.SetDimWithStatus(0, rows).ok()) {
        return invalid_argument("cannot concatenate elements of shape ", shape.DebugString(), ": there are too many");
      }
    }
    return absl::OkStatus();
  }
};

class CheckedSplit : public Checked {
 public:
  using Checked::Checked;

 protected:
  absl::Status check(OpKernelContext* context) override {
    const Tensor& lengths = context->input(2);
    if (lengths.dims() != 1) return absl::OkStatus();
    const auto list = lengths.vec<std::int64_t>();
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < list.size(); ++i) {
      if (list(i) < 0) return invalid_argument("lengths[", i, "] is ", list(i), ", must be >= 0");
      if (__builtin_add_overflow(sum, list(i), &sum)) {
        return invalid_argument("lengths add up to more than 2**63 - 1 at lengths[", i, "], which is ", list(i));
      }
    }
    return absl::OkStatus();
  }
};

}  // namespace backslice_tensorflow
