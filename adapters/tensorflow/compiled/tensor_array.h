// TensorFlow's TensorArray, through its public functions, and what the kernels of its family share.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "join.h"
#include "kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/kernels/tensor_array.h"

namespace backslice_tensorflow {

using tensorflow::PartialTensorShape;
using tensorflow::TensorArray;
using Indices = std::vector<std::int32_t>;

constexpr const char* kArrays = "_tensor_arrays";  // what handles begin with
constexpr const char* kGradients = "_tensor_array_grads";

// An array that also knows the shapes that were written to it. TensorFlow's own array does not expose them, and aborts
// if it cannot prepend others.
class Array : public TensorArray {
 public:
  using TensorArray::TensorArray;

  void record(const Indices& indices, const std::vector<Tensor>& values) {
    const tensorflow::mutex_lock lock(mutex_);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto index = static_cast<std::size_t>(indices[i]);
      if (index >= shapes_.size()) shapes_.resize(index + 1);
      shapes_[index] = values[i].shape();
    }
  }

  // Copies the shapes of another array, with `front` before each.
  absl::Status record_shapes_of(Array& other, const TensorShape& front) {
    const tensorflow::mutex_lock lock(mutex_), lock_other(other.mutex_);
    for (const TensorShape& shape : other.shapes_) {
      shapes_.push_back(front);
      const absl::Status fits = shapes_.back().AppendShapeWithStatus(shape);
      if (!fits.ok()) {
        return invalid_argument("shape_to_prepend does not fit before an element of shape ", shape.DebugString(), ": ",
                                fits.message());
      }
    }
    return absl::OkStatus();
  }

 private:
  tensorflow::mutex mutex_;
  std::vector<TensorShape> shapes_;  // scalars where nothing was written
};

using ArrayPointer = tensorflow::core::RefCountPtr<TensorArray>;

inline absl::Status find_array(OpKernelContext* context, ArrayPointer* found) {
  if (context->input(0).NumElements() == 0) {
    return invalid_argument(context->op_kernel().type_string(), ": handle has no elements, expected one; its shape is ",
                            context->input(0).shape().DebugString());
  }
  TensorArray* array = nullptr;
  TF_RETURN_IF_ERROR(tensorflow::LookupResource(context, tensorflow::HandleFromInput(context, 0), &array));
  found->reset(array);
  return absl::OkStatus();
}

// Reading past the end of a gradient array makes it longer.
inline bool is_gradient(TensorArray& array) { return array.handle()->flat<tstring>()(0) == kGradients; }

// TensorFlow ends the process if there is no memory for so many elements, before any of them has a value.
inline absl::Status check_room_for(std::int64_t elements) {
  constexpr std::int64_t kEach = sizeof(Tensor) + sizeof(TensorShape) + 8;
  constexpr std::int64_t kFew = std::int64_t{1} << 20;
  if (elements <= kFew) return absl::OkStatus();
  const std::int64_t machine = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  const std::int64_t bytes = elements * kEach;  // of fewer than 2**33
  const std::unique_ptr<void, void (*)(void*)> trial(
      bytes > machine ? nullptr : std::malloc(static_cast<std::size_t>(bytes)), std::free);
  if (trial != nullptr) return absl::OkStatus();
  return resource_exhausted("a TensorArray of ", elements, " elements takes ", bytes,
                            " bytes before anything is written to it, and there is not enough memory");
}

// Returns the error of a change to a shape, if it is impossible.
inline absl::Status fits(const absl::Status& changed, const char* what, const TensorShape& element) {
  if (changed.ok()) return absl::OkStatus();
  return invalid_argument(what, " an element of shape ", element.DebugString(), ": ", changed.message());
}

// Calls body(T*) for the type of an array's elements.
template <class Body>
absl::Status visit_type(DataType dtype, const Body& body) {
  switch (dtype) {
#define BACKSLICE_CASE(T) \
  case tensorflow::DataTypeToEnum<T>::value: return body(static_cast<T*>(nullptr));
    TF_CALL_ALL_TYPES(BACKSLICE_CASE)
    TF_CALL_qint8(BACKSLICE_CASE) TF_CALL_quint8(BACKSLICE_CASE) TF_CALL_qint32(BACKSLICE_CASE)
#undef BACKSLICE_CASE
        default : return invalid_argument("a TensorArray of ", tensorflow::DataTypeString(dtype), " has no kernels");
  }
}

inline absl::Status write(OpKernelContext* context, TensorArray& array, const Indices& indices,
                          std::vector<Tensor> values) {
  TF_RETURN_IF_ERROR(visit_type(array.ElemType(), [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    return array.WriteOrAggregateMany<tensorflow::CPUDevice, T>(context, indices, &values);
  }));
  if (auto* const ours = dynamic_cast<Array*>(&array)) ours->record(indices, values);
  return absl::OkStatus();
}

inline absl::Status read(OpKernelContext* context, TensorArray& array, const Indices& indices,
                         std::vector<Tensor>* values) {
  const auto last = std::max_element(indices.begin(), indices.end());
  if (last != indices.end() && is_gradient(array)) TF_RETURN_IF_ERROR(check_room_for(std::int64_t{*last} + 1));
  return visit_type(array.ElemType(), [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    return array.ReadMany<tensorflow::CPUDevice, T>(context, indices, values);
  });
}

// Splits a value into items of these shapes. Precondition: they add up to it.
inline absl::Status take_apart(OpKernelContext* context, const Tensor& value, const std::vector<TensorShape>& shapes,
                               std::vector<Tensor>* items) {
  std::vector<std::int64_t> starts = {0};
  for (const TensorShape& shape : shapes) {
    starts.push_back(starts.back() + shape.num_elements());
    items->emplace_back();
    TF_RETURN_IF_ERROR(context->allocate_temp(value.dtype(), shape, &items->back()));
  }
  return visit_type(value.dtype(), [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const T* const all = value.flat<T>().data();
    const auto count = static_cast<std::int64_t>(shapes.size());
    const std::int64_t cycles = count == 0 ? 0 : starts.back() * static_cast<std::int64_t>(sizeof(T)) / (4 * count);
    parallel_for(context, count, cycles, [&](std::int64_t i) {
      auto item = (*items)[static_cast<std::size_t>(i)].template flat<T>();
      std::copy_n(all + starts[static_cast<std::size_t>(i)], item.size(), item.data());
    });
    return absl::OkStatus();
  });
}

// Joins values as the first output. Precondition: they add up to the shape.
inline absl::Status put_together(OpKernelContext* context, const std::vector<Tensor>& values, DataType dtype,
                                 const TensorShape& shape) {
  if (dtype != tensorflow::DT_VARIANT) {
    const Tensors source{[&](std::size_t i) -> const Tensor& { return values[i]; }};
    return Join(context, dtype, static_cast<std::int64_t>(values.size()), source).to_output(0, shape);
  }
  Tensor* joined = nullptr;
  TF_RETURN_IF_ERROR(context->allocate_output(0, shape, &joined));
  auto* to = joined->flat<tensorflow::Variant>().data();
  for (const Tensor& value : values) {
    const auto items = value.flat<tensorflow::Variant>();
    to = std::copy_n(items.data(), items.size(), to);
  }
  return absl::OkStatus();
}

// A kernel that reads an array of its type.
class ReadsArray : public Kernel {
 public:
  explicit ReadsArray(OpKernelConstruction* made) : Kernel(made) {
    OP_REQUIRES_OK(made, made->GetAttr("dtype", &dtype_));
  }

 protected:
  absl::Status run(OpKernelContext* context) final {
    ArrayPointer array;
    TF_RETURN_IF_ERROR(find_array(context, &array));
    if (dtype_ == array->ElemType()) return run(context, *array);
    return invalid_argument("TensorArray dtype is ", tensorflow::DataTypeString(array->ElemType()),
                            " but Op requested dtype ", tensorflow::DataTypeString(dtype_), ".");
  }

  virtual absl::Status run(OpKernelContext* context, TensorArray& array) = 0;

  DataType dtype_;
};

// A kernel that writes a value to an array of its type.
class WritesArray : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  absl::Status run(OpKernelContext* context) final {
    const Tensor *flow = nullptr, *value = nullptr;
    TF_RETURN_IF_ERROR(context->input("flow_in", &flow));
    TF_RETURN_IF_ERROR(context->input("value", &value));
    context->set_output(0, *flow);
    ArrayPointer array;
    TF_RETURN_IF_ERROR(find_array(context, &array));
    if (value->dtype() == array->ElemType()) return run(context, *array, *value);
    return invalid_argument("TensorArray dtype is ", tensorflow::DataTypeString(array->ElemType()),
                            " but Op is trying to write dtype ", tensorflow::DataTypeString(value->dtype()), ".");
  }

  virtual absl::Status run(OpKernelContext* context, TensorArray& array, const Tensor& value) = 0;
};

}  // namespace backslice_tensorflow
