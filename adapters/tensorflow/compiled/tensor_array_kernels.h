// The kernels of the TensorArrayV3 family. They behave like TensorFlow's, in its order and with its words, and return
// an error if TensorFlow's abort. Both libraries' kernels can use an array of either.
#pragma once

#include <limits>
#include <numeric>

#include "tensor_array.h"
#include "tensorflow/core/framework/tensor_util.h"

namespace backslice_tensorflow {

class MakesArray : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  absl::Status run(OpKernelContext* context) final {
    if (context->resource_manager() == nullptr) return absl::InternalError("No resource manager.");
    if (context->step_container() == nullptr) return absl::InternalError("No step container.");
    Tensor names;
    TF_RETURN_IF_ERROR(context->allocate_temp(tensorflow::DT_STRING, TensorShape({2}), &names));
    ArrayPointer array;
    TF_RETURN_IF_ERROR(make(context, names, &array));
    Tensor *handle = nullptr, *flow = nullptr;
    TF_RETURN_IF_ERROR(context->allocate_output(0, TensorShape({}), &handle));
    TF_RETURN_IF_ERROR(context->allocate_output(1, TensorShape({}), &flow));
    handle->flat<tensorflow::ResourceHandle>()(0) = array->resource_handle(context);
    flow->flat<float>()(0) = 0;
    return absl::OkStatus();
  }

  virtual absl::Status make(OpKernelContext* context, Tensor& names, ArrayPointer* array) = 0;
};

class MakeArray : public MakesArray {
 public:
  explicit MakeArray(OpKernelConstruction* made) : MakesArray(made) {
    OP_REQUIRES_OK(made, made->GetAttr("dtype", &dtype_));
    OP_REQUIRES_OK(made, made->GetAttr("element_shape", &element_shape_));
    OP_REQUIRES_OK(made, made->GetAttr("dynamic_size", &is_dynamic_));
    OP_REQUIRES_OK(made, made->GetAttr("identical_element_shapes", &are_identical_));
    OP_REQUIRES_OK(made, made->GetAttr("clear_after_read", &clears_after_read_));
    OP_REQUIRES_OK(made, made->GetAttr("tensor_array_name", &name_));
    if (name_.empty()) name_ = name();
  }

 protected:
  absl::Status make(OpKernelContext* context, Tensor& names, ArrayPointer* array) override {
    const Tensor& given = context->input(0);
    if (given.dims() != 0) {
      return invalid_argument("TensorArray size must be scalar, but had shape: ", given.shape().DebugString());
    }
    const std::int32_t size = given.scalar<std::int32_t>()();
    if (size < 0) return invalid_argument("Size should be >= 0.");
    TF_RETURN_IF_ERROR(check_room_for(size));
    auto parts = names.flat<tstring>();
    parts(0) = kArrays;
    parts(1) = absl::StrCat(name_, "_", TensorArray::tensor_array_counter.fetch_add(1));
    const std::string key = absl::StrCat(kArrays, std::string(parts(1)));
    auto* const made =
        new Array(key, dtype_, names, size, element_shape_, are_identical_, is_dynamic_,
                  /*multiple_writes_aggregate=*/false, /*is_grad=*/false, /*marked_size=*/-1, clears_after_read_);
    made->Ref();  // the container takes the other
    array->reset(made);
    return context->step_container()->Create<TensorArray>(context->resource_manager(), key, made);
  }

 private:
  DataType dtype_;
  PartialTensorShape element_shape_;
  bool is_dynamic_, are_identical_, clears_after_read_;
  std::string name_;
};

// TensorArrayGradV3, and TensorArrayGradWithShape, which has a third input.
class MakeGradient : public MakesArray {
 public:
  explicit MakeGradient(OpKernelConstruction* made) : MakesArray(made) {
    OP_REQUIRES_OK(made, made->GetAttr("source", &source_));
  }

 protected:
  absl::Status make(OpKernelContext* context, Tensor& names, ArrayPointer* array) override {
    ArrayPointer forward;
    TF_RETURN_IF_ERROR(find_array(context, &forward));
    const std::string container = kArrays, key = context->input(0).flat<tensorflow::ResourceHandle>()(0).name();
    if (key.compare(0, container.size(), container) != 0) return invalid_argument("Wrong input container. ", key);
    const std::string name = key.substr(container.size());
    forward->DisableDynamicSize();
    std::int32_t size = 0, marked_size = 0;
    TF_RETURN_IF_ERROR(forward->Size(&size));
    TF_RETURN_IF_ERROR(forward->MarkedSize(&marked_size));
    if (!forward->GradientsAllowed()) {
      return invalid_argument("Unable to create a gradients TensorArray for ", name,
                              ".  Perhaps you used the multiple_writes_aggregate flag on a previous write?  Gradient "
                              "calculation is impossible when multiple writes are performed to the same index.");
    }
    TensorShape front;
    PartialTensorShape element_shape;
    TF_RETURN_IF_ERROR(shape_of_elements(context, *forward, &front, &element_shape));
    auto parts = names.flat<tstring>();
    parts(0) = kGradients;
    parts(1) = absl::StrCat(name, "@", source_);
    const std::string gradient_key = absl::StrCat(kGradients, std::string(parts(1)));
    const auto create = [&](TensorArray** created) -> absl::Status {
      tensorflow::core::RefCountPtr<Array> gradient(
          new Array(gradient_key, forward->ElemType(), names, size, element_shape, forward->HasIdenticalElementShapes(),
                    /*dynamic_size=*/false, /*multiple_writes_aggregate=*/true, /*is_grad=*/true, marked_size,
                    /*clear_after_read=*/true));
      if (auto* const ours = dynamic_cast<Array*>(forward.get())) {
        TF_RETURN_IF_ERROR(gradient->record_shapes_of(*ours, front));
      }
      TF_RETURN_IF_ERROR(gradient->CopyShapesFrom(forward.get(), &front));
      *created = gradient.release();
      return absl::OkStatus();
    };
    TensorArray* found = nullptr;
    TF_RETURN_IF_ERROR(context->step_container()->LookupOrCreate<TensorArray>(context->resource_manager(), gradient_key,
                                                                              &found, create));
    array->reset(found);
    return absl::OkStatus();
  }

 private:
  static absl::Status shape_of_elements(OpKernelContext* context, TensorArray& forward, TensorShape* front,
                                        PartialTensorShape* shape) {
    *shape = forward.ElemShape();
    if (context->num_inputs() <= 2) return absl::OkStatus();
    TF_RETURN_IF_ERROR(tensorflow::tensor::MakeShape(context->input(2), front));
    if (shape->unknown_rank()) return absl::OkStatus();
    std::vector<std::int64_t> dims;
    for (const auto dim : *front) dims.push_back(dim.size);
    for (const auto dim : *shape) dims.push_back(dim.size);
    return tensorflow::TensorShapeUtils::MakeShape(dims.data(), static_cast<int>(dims.size()), shape);
  }

  std::string source_;
};

inline absl::Status index_of(const Tensor& given, std::int32_t* index) {
  if (given.dims() != 0) {
    return invalid_argument("TensorArray index must be scalar, but had shape: ", given.shape().DebugString());
  }
  *index = given.scalar<std::int32_t>()();
  return absl::OkStatus();
}

inline absl::Status indices_of(const Tensor& given, Indices* indices) {
  if (given.dims() != 1) {
    return invalid_argument("Expected indices to be a vector, but received shape: ", given.shape().DebugString());
  }
  const auto list = given.vec<std::int32_t>();
  indices->assign(list.data(), list.data() + list.size());
  return absl::OkStatus();
}

inline Indices first_indices(std::int32_t count) {
  Indices indices(static_cast<std::size_t>(count));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

class Write : public WritesArray {
 public:
  using WritesArray::WritesArray;

 protected:
  absl::Status run(OpKernelContext* context, TensorArray& array, const Tensor& value) override {
    std::int32_t index = 0;
    TF_RETURN_IF_ERROR(index_of(context->input(1), &index));
    if (array.HasDynamicSize()) TF_RETURN_IF_ERROR(check_room_for(2 * (std::int64_t{index} + 1)));
    return write(context, array, {index}, {value});
  }
};

class Read : public ReadsArray {
 public:
  using ReadsArray::ReadsArray;

 protected:
  absl::Status run(OpKernelContext* context, TensorArray& array) override {
    std::int32_t index = 0;
    TF_RETURN_IF_ERROR(index_of(context->input(1), &index));
    std::vector<Tensor> values;
    TF_RETURN_IF_ERROR(read(context, array, {index}, &values));
    context->set_output(0, values[0]);
    return absl::OkStatus();
  }
};

// An output for no elements at all, whose shape must be known.
inline absl::Status set_nothing(OpKernelContext* context, const PartialTensorShape& element, const char* which,
                                const char* doing) {
  TensorShape shape;
  if (!element.AsTensorShape(&shape)) {
    return absl::UnimplementedError(absl::StrCat(
        "TensorArray has size zero, but ", which, " ", element.DebugString(),
        " is not fully defined. Currently only static shapes are supported when ", doing, " zero-size TensorArrays."));
  }
  TF_RETURN_IF_ERROR(fits(shape.InsertDimWithStatus(0, 0), "cannot stack", shape));
  Tensor* empty = nullptr;
  return context->allocate_output(0, shape, &empty);
}

class Gather : public ReadsArray {
 public:
  explicit Gather(OpKernelConstruction* made) : ReadsArray(made) {
    OP_REQUIRES_OK(made, made->GetAttr("element_shape", &element_shape_));
  }

 protected:
  absl::Status run(OpKernelContext* context, TensorArray& array) override {
    TF_RETURN_IF_ERROR(array.SetElemShape(element_shape_));
    Indices indices;
    TF_RETURN_IF_ERROR(indices_of(context->input(1), &indices));
    if (indices.empty()) return set_nothing(context, element_shape_, "element shape", "packing");
    std::vector<Tensor> values;
    TF_RETURN_IF_ERROR(read(context, array, indices, &values));
    const TensorShape& first = values[0].shape();
    if (!element_shape_.IsCompatibleWith(first)) {
      return invalid_argument("TensorArray was passed element_shape ", element_shape_.DebugString(),
                              " which does not match the Tensor at index 0: ", first.DebugString());
    }
    TensorShape shape = first;
    const auto count = static_cast<std::int64_t>(values.size());
    TF_RETURN_IF_ERROR(fits(shape.InsertDimWithStatus(0, count), "cannot stack", first));
    for (std::size_t i = 1; i < values.size() && shape.num_elements() > 0; ++i) {
      if (values[i].shape() == first) continue;
      return invalid_argument("TensorArray has inconsistent shapes.  Index 0 has shape: ", first.DebugString(),
                              " but index ", i, " has shape: ", values[i].shape().DebugString());
    }
    if (shape.num_elements() > 0) return put_together(context, values, dtype_, shape);
    Tensor* empty = nullptr;
    return context->allocate_output(0, shape, &empty);
  }

 private:
  PartialTensorShape element_shape_;
};

class Concat : public ReadsArray {
 public:
  explicit Concat(OpKernelConstruction* made) : ReadsArray(made) {
    OP_REQUIRES_OK(made, made->GetAttr("element_shape_except0", &row_shape_));
  }

 protected:
  absl::Status run(OpKernelContext* context, TensorArray& array) override {
    std::int32_t size = 0;
    TF_RETURN_IF_ERROR(array.PackOrConcatSize(&size));
    if (size < 0) TF_RETURN_IF_ERROR(array.Size(&size));  // a gradient of an array that was never split
    Tensor* lengths = nullptr;
    TF_RETURN_IF_ERROR(context->allocate_output(1, TensorShape({size}), &lengths));
    if (size == 0) return set_nothing(context, row_shape_, "element_shape_except0", "concatenating");
    std::vector<Tensor> values;
    TF_RETURN_IF_ERROR(read(context, array, first_indices(size), &values));
    TensorShape shape;
    TF_RETURN_IF_ERROR(join_shapes(values, lengths->vec<std::int64_t>().data(), &shape));
    return put_together(context, values, dtype_, shape);
  }

 private:
  absl::Status join_shapes(const std::vector<Tensor>& values, std::int64_t* lengths, TensorShape* shape) const {
    TensorShape first_row;
    std::int64_t rows = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      TensorShape row = values[i].shape();
      if (row.dims() == 0) {
        return invalid_argument("Concat saw a scalar shape at index ", i,
                                " but requires at least vectors.  Did you mean to call pack?");
      }
      lengths[i] = row.dim_size(0);
      TF_RETURN_IF_ERROR(fits(row.RemoveDimWithStatus(0), "cannot concatenate", values[i].shape()));
      if (i == 0) first_row = row;
      if (i == 0 && !row_shape_.IsCompatibleWith(row)) {
        return invalid_argument("TensorArray was passed element_shape_except0 ", row_shape_.DebugString(),
                                " but index 0 has (excepting dimension 0) shape: ", row.DebugString(),
                                " which does not match.");
      }
      if (row != first_row) {
        return invalid_argument("TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: ",
                                first_row.DebugString(), " but index ", i,
                                " has (excepting dimension 0) shape: ", row.DebugString());
      }
      *shape = values[0].shape();
      if (__builtin_add_overflow(rows, lengths[i], &rows) || !shape->SetDimWithStatus(0, rows).ok()) {
        return invalid_argument("cannot concatenate elements of shape ", values[i].shape().DebugString(),
                                ": there are too many");
      }
    }
    return absl::OkStatus();
  }

  PartialTensorShape row_shape_;
};

class Scatter : public WritesArray {
 public:
  using WritesArray::WritesArray;

 protected:
  absl::Status run(OpKernelContext* context, TensorArray& array, const Tensor& value) override {
    if (value.dims() == 0) {
      return invalid_argument("Input value for unpack must be at least a vector but received shape: ",
                              value.shape().DebugString());
    }
    std::int32_t size = 0;
    TF_RETURN_IF_ERROR(array.Size(&size));
    Indices indices;
    TF_RETURN_IF_ERROR(indices_of(context->input(1), &indices));
    if (static_cast<std::int64_t>(indices.size()) != value.dim_size(0)) {
      return invalid_argument("Expected len(indices) == values.shape[0], but saw: ", indices.size(), " vs. ",
                              value.dim_size(0));
    }
    const std::int32_t last = indices.empty() ? -1 : *std::max_element(indices.begin(), indices.end());
    const bool grows = array.HasDynamicSize() && last != std::numeric_limits<std::int32_t>::max();
    if (last >= size && !grows) {
      return invalid_argument("Max scatter index must be < array size (", last, " vs. ", size, ")");
    }
    TensorShape row = value.shape();
    TF_RETURN_IF_ERROR(fits(row.RemoveDimWithStatus(0), "cannot take apart", value.shape()));
    if (grows) TF_RETURN_IF_ERROR(check_room_for(2 * (std::int64_t{last} + 1)));
    std::vector<Tensor> values;
    TF_RETURN_IF_ERROR(take_apart(context, value, std::vector<TensorShape>(indices.size(), row), &values));
    return write(context, array, indices, std::move(values));
  }
};

class Split : public WritesArray {
 public:
  using WritesArray::WritesArray;

 protected:
  absl::Status run(OpKernelContext* context, TensorArray& array, const Tensor& value) override {
    const Tensor& lengths = context->input(2);
    if (lengths.dims() != 1) {
      return invalid_argument("Expected lengths to be a vector, received shape: ", lengths.shape().DebugString());
    }
    if (lengths.NumElements() >= std::numeric_limits<std::int32_t>::max()) {
      return invalid_argument("Expected lengths to have < max int32 entries");
    }
    const auto list = lengths.vec<std::int64_t>();
    const auto count = static_cast<std::int32_t>(list.size());
    std::int64_t rows = 0;
    TF_RETURN_IF_ERROR(add_up(list.data(), count, &rows));
    if (value.dims() == 0) {
      return invalid_argument("Expected value to be at least a vector, but received shape: ",
                              value.shape().DebugString());
    }
    if (rows != value.dim_size(0)) {
      return invalid_argument("Expected sum of lengths to be equal to values.shape[0], but sum of lengths is ", rows,
                              " and value's shape is: ", value.shape().DebugString());
    }
    std::int32_t size = 0;
    TF_RETURN_IF_ERROR(array.Size(&size));
    if (array.HasDynamicSize() && size < count) size = count;
    if (size != count) {
      return invalid_argument("TensorArray's size is not equal to the size of lengths (", size, " vs. ", count,
                              "), and the TensorArray is not marked as dynamically resizeable");
    }
    std::vector<TensorShape> shapes;
    for (std::int32_t i = 0; i < count; ++i) {
      shapes.push_back(value.shape());
      TF_RETURN_IF_ERROR(fits(shapes.back().SetDimWithStatus(0, list(i)), "cannot split", value.shape()));
    }
    std::vector<Tensor> values;
    TF_RETURN_IF_ERROR(take_apart(context, value, shapes, &values));
    TF_RETURN_IF_ERROR(array.SetMarkedSize(size));
    return write(context, array, first_indices(size), std::move(values));
  }

 private:
  static absl::Status add_up(const std::int64_t* lengths, std::int32_t count, std::int64_t* sum) {
    for (std::int32_t i = 0; i < count; ++i) {
      if (lengths[i] < 0) return invalid_argument("lengths[", i, "] is ", lengths[i], ", must be >= 0");
      if (__builtin_add_overflow(*sum, lengths[i], sum)) {
        return invalid_argument("lengths add up to more than 2**63 - 1 at lengths[", i, "], which is ", lengths[i]);
      }
    }
    return absl::OkStatus();
  }
};

}  // namespace backslice_tensorflow
