// What a TensorArray of TensorFlow's keeps to itself and its kernels trip over: the shapes of its elements, and the
// size that a gradient array concatenates.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "replacement.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/kernels/tensor_array.h"

namespace backslice_tensorflow {

using tensorflow::TensorArray;

// An explicit instantiation may name private members: the one way to reach them that the language has.
auto& elements_of(TensorArray& array);
auto& concatenated_size_of(TensorArray& array);
auto& is_gradient(TensorArray& array);

template <auto Elements, auto Size, auto IsGradient>
struct Reveal {
  friend auto& elements_of(TensorArray& array) { return array.*Elements; }
  friend auto& concatenated_size_of(TensorArray& array) { return array.*Size; }
  friend auto& is_gradient(TensorArray& array) { return array.*IsGradient; }
};
template struct Reveal<&TensorArray::tensors_, &TensorArray::marked_size_, &TensorArray::is_grad_>;

// The array that a kernel's first input names; null where there is none, which TensorFlow's kernel will say.
inline tensorflow::core::RefCountPtr<TensorArray> array_of(OpKernelContext* context) {
  TensorArray* array = nullptr;
  const auto found = tensorflow::LookupResource(context, tensorflow::HandleFromInput(context, 0), &array);
  return tensorflow::core::RefCountPtr<TensorArray>(found.ok() ? array : nullptr);
}

// TensorFlow lets the process die where there is no memory for so many elements, before any of them has a value.
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

// The error of a change to an element's shape that TensorFlow makes without asking whether it can be made.
inline absl::Status fits(const absl::Status& changed, const char* what, const TensorShape& element) {
  if (changed.ok()) return absl::OkStatus();
  return invalid_argument(what, " an element of shape ", element.DebugString(), ": ", changed.message());
}

// Calls check(shape) with the shape that all elements have, if it is known, and with that of each element that has one.
template <class Check>
absl::Status check_shapes(TensorArray& array, const Check& check) {
  TensorShape whole;
  if (array.ElemShape().AsTensorShape(&whole)) TF_RETURN_IF_ERROR(check(whole));
  const tensorflow::mutex_lock lock(*array.mu());
  for (const auto& element : elements_of(array)) TF_RETURN_IF_ERROR(check(element.shape));
  return absl::OkStatus();
}

}  // namespace backslice_tensorflow
